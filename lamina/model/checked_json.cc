// Bounded parsing and strict numbers.
#include "lamina/model/checked_json.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/checksum.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {

using nlohmann::json;

namespace {
constexpr const char* kDamaged = "The file is damaged or not a lamina model.";
constexpr const char* kSeal = "crc32";

// Keys in their order, numbers by the digits that read back to them: the same for what was written and what is read.
std::string SealOf(const json& node) { return ChecksumOf(node.dump(-1, ' ', false, json::error_handler_t::replace)); }
}  // namespace

namespace {

// Makes a tree of what nlohmann's reader meets. Its own maker with a callback for the two checks takes twice as long.
// The names of the functions are that reader's.
// NOLINTBEGIN(readability-identifier-naming)
class CheckedTree {
 public:
  explicit CheckedTree(const std::string& source) : source_(source) {}
  json Take() { return std::move(root_); }

  bool null() { return Put(nullptr); }
  bool boolean(bool value) { return Put(value); }
  bool number_integer(json::number_integer_t value) { return Put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return Put(value); }
  bool number_float(json::number_float_t value, const std::string& /*text*/) { return Put(value); }
  bool string(std::string& value) { return Put(std::move(value)); }
  bool binary(json::binary_t& value) { return Put(std::move(value)); }
  bool start_object(size_t /*elements*/) { return Open(json::object()); }
  bool end_object() { return Close(); }
  bool start_array(size_t /*elements*/) { return Open(json::array()); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    const auto [entry, added] = open_.back()->get_ref<json::object_t&>().emplace(name, nullptr);
    if (!added) {
      throw Error(ErrorCode::kBadModel, "the header has a key twice",
                  {.file = source_, .value = name, .remedy = kDamaged});
    }
    member_ = &entry->second;
    return true;
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/, const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("it is not JSON: {}", WithoutTag(error.what())),
                {.file = source_, .remedy = kDamaged});
  }

 private:
  static constexpr size_t kMaxDepth = 100;

  json& Place(json&& value) {
    if (open_.size() > kMaxDepth) {
      throw Error(ErrorCode::kBadModel, fmt::format("JSON nested deeper than {} levels", kMaxDepth),
                  {.file = source_, .remedy = kDamaged});
    }
    if (open_.empty()) {
      return root_ = std::move(value);
    }
    if (open_.back()->is_object()) {
      return *member_ = std::move(value);
    }
    auto& array = open_.back()->get_ref<json::array_t&>();
    array.push_back(std::move(value));
    return array.back();
  }
  bool Put(json value) {
    Place(std::move(value));
    return true;
  }
  bool Open(json value) {
    open_.push_back(&Place(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  const std::string& source_;
  json root_;
  std::vector<json*> open_;  // arrays and objects; what is behind the last one does not move
  json* member_ = nullptr;   // of the object that is open last, whose value comes next
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

json ParseUntrustedJson(std::string_view text, const std::string& source) {
  if (text.find('\0') != std::string_view::npos) {  // the parser takes one for the end
    throw Error(ErrorCode::kBadModel, "it is not JSON: it holds NUL bytes", {.file = source, .remedy = kDamaged});
  }
  CheckedTree tree(source);
  json::sax_parse(text, &tree);
  return tree.Take();
}

json Sealed(json node) {
  node[kSeal] = SealOf(node);
  return node;
}

bool Unseal(json& node) {
  if (!node.is_object() || !node.contains(kSeal)) {
    return true;
  }
  const json seal = node[kSeal];
  node.erase(kSeal);
  return seal == SealOf(node);
}

int64_t IntegerAt(const json& node, const char* name) {
  const json& value = node.at(name);
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() && value.get<uint64_t>() > std::numeric_limits<int64_t>::max())) {
    throw Error(ErrorCode::kBadModel, fmt::format("{} is not a whole number", name), {.value = value.dump()});
  }
  return value.get<int64_t>();
}

}  // namespace lamina
