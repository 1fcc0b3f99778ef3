// The safetensors format, every length checked.
#include "lamina/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "lamina/base/checksum.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/mapped_file.h"
#include "lamina/base/names.h"
#include "lamina/model/checked_json.h"

namespace lamina {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

constexpr size_t kLength_bytes = 8;
constexpr const char* kMetadataEntry = "__metadata__";
constexpr uint64_t kMaxHeader_bytes = 100'000'000;  // the limit of the reference implementation
constexpr Named<DType> kTypes[] = {{"F64", DType::kF64},   {"F32", DType::kF32}, {"F16", DType::kF16},
                                   {"BF16", DType::kBF16}, {"I64", DType::kI64}, {"I32", DType::kI32},
                                   {"I16", DType::kI16},   {"I8", DType::kI8},   {"U8", DType::kU8}};

[[noreturn]] void ThrowBadTensors(const std::string& source, std::string what) {
  throw Error(ErrorCode::kBadModel, std::move(what),
              {.file = source, .remedy = "The file is damaged or not a lamina model."});
}

// Bytes that a tensor of this shape needs; throws where the product overflows.
int64_t ByteCount(const std::string& source, const std::string& name, const std::vector<int64_t>& shape, DType dtype) {
  int64_t count = DTypeSize_bytes(dtype);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) {
      ThrowBadTensors(source, fmt::format("tensor {}: impossible shape", name));
    }
  }
  return count;
}

TensorView ParseTensor(const std::string& source, const std::string& name, const json& entry, std::string_view data) {
  TensorView tensor;
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
      entry["data_offsets"].size() != 2) {
    ThrowBadTensors(source, fmt::format("tensor {}: the header entry is incomplete", name));
  }
  const auto& type_name = entry["dtype"].get_ref<const std::string&>();
  const auto type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& row) { return row.name == type_name; });
  if (type == std::end(kTypes)) {
    ThrowBadTensors(source, fmt::format("tensor {}: unknown data type {}", name, type_name));
  }
  tensor.dtype = type->value;
  for (const json& size : entry["shape"]) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX) {
      ThrowBadTensors(source, fmt::format("tensor {}: a size is not a whole number", name));
    }
    tensor.shape.push_back(size.get<int64_t>());
  }
  const json& offsets = entry["data_offsets"];
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) {
    ThrowBadTensors(source, fmt::format("tensor {}: an offset is not a whole number", name));
  }
  const auto begin = offsets[0].get<uint64_t>();
  const auto end = offsets[1].get<uint64_t>();
  if (begin > end || end > data.size()) {
    ThrowBadTensors(source,
                    fmt::format("tensor {} ends at byte {} of {}: the file is cut short", name, end, data.size()));
  }
  if (static_cast<uint64_t>(ByteCount(source, name, tensor.shape, tensor.dtype)) != end - begin) {
    ThrowBadTensors(source, fmt::format("tensor {}: {} bytes do not fit its shape", name, end - begin));
  }
  tensor.bytes = data.substr(begin, end - begin);
  return tensor;
}

// The format demands that the tensors fill the data section exactly, without gaps or overlap.
void RequireExactCover(const std::string& source, const std::map<std::string, TensorView>& tensors,
                       std::string_view data) {
  std::vector<std::string_view> parts;
  parts.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    parts.push_back(tensor.bytes);
  }
  std::sort(parts.begin(), parts.end(), [](std::string_view a, std::string_view b) {
    return a.data() != b.data() ? a.data() < b.data() : a.size() < b.size();
  });
  const char* at = data.data();
  for (const std::string_view part : parts) {
    if (part.data() != at) {
      ThrowBadTensors(source, "tensors overlap or leave gaps");
    }
    at += part.size();
  }
  if (at != data.data() + data.size()) {
    ThrowBadTensors(source, fmt::format("{} bytes too many at the end", data.data() + data.size() - at));
  }
}

// The checksum covers metadata and tensors, whatever the order and the spaces of the header.
constexpr const char* kChecksumKey = "crc32";

std::string ChecksumText(const std::map<std::string, std::string>& metadata,
                         const std::map<std::string, TensorView>& tensors) {
  uint32_t sum = 0;
  const auto add = [&sum](std::string_view text) { sum = Crc32(sum, text); };
  for (const auto& [key, value] : metadata) {
    if (key != kChecksumKey) {
      add(fmt::format("{}:{}={}:{};", key.size(), key, value.size(), value));
    }
  }
  for (const auto& [name, tensor] : tensors) {
    add(fmt::format("{}:{} {} [{}]", name.size(), name, NameOf(tensor.dtype, kTypes), fmt::join(tensor.shape, ",")));
    add(tensor.bytes);
  }
  return fmt::format("{:08x}", sum);
}

void RequireChecksum(const std::string& source, const std::map<std::string, std::string>& metadata,
                     const std::map<std::string, TensorView>& tensors) {
  const auto written = metadata.find(kChecksumKey);
  if (written != metadata.end() && written->second != ChecksumText(metadata, tensors)) {
    throw Error(ErrorCode::kBadModel, "the content does not fit its checksum: the file is damaged",
                {.file = source,
                 .remedy = fmt::format("Copy or train it again; where another program changed it on purpose, take '{}' "
                                       "out of its metadata.",
                                       kChecksumKey)});
  }
}

// The text of the header; the rest of `all` are the tensors.
std::string_view HeaderIn(std::string_view all, const std::string& source) {
  uint64_t header_bytes = 0;
  if (all.size() < kLength_bytes) {
    ThrowBadTensors(source, fmt::format("the file has only {} bytes", all.size()));
  }
  std::memcpy(&header_bytes, all.data(), kLength_bytes);
  if (header_bytes > kMaxHeader_bytes || header_bytes > all.size() - kLength_bytes) {
    ThrowBadTensors(source, fmt::format("the header claims {} bytes, the file has {}", header_bytes, all.size()));
  }
  if (header_bytes == 0 || all[kLength_bytes] != '{') {
    ThrowBadTensors(source, "the header does not begin with '{'");
  }
  return all.substr(kLength_bytes, header_bytes);
}

std::map<std::string, std::string> MetadataIn(const json& header, const std::string& source) {
  std::map<std::string, std::string> metadata;
  const auto entry = header.find(kMetadataEntry);
  if (entry == header.end()) {
    return metadata;
  }
  if (!entry->is_object()) {
    ThrowBadTensors(source, "the metadata is not a JSON object");
  }
  for (const auto& [key, value] : entry->items()) {
    if (!value.is_string()) {
      ThrowBadTensors(source, fmt::format("metadata {} is not a text", key));
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

}  // namespace

int64_t TensorView::element_count() const { return static_cast<int64_t>(bytes.size()) / DTypeSize_bytes(dtype); }

SafetensorsFile SafetensorsFile::Read(const std::string& path) { return Parse(ReadFile(path), path); }

SafetensorsFile SafetensorsFile::Parse(std::string content, const std::string& source) {
  SafetensorsFile file;
  file.source_ = source;
  file.content_ = std::move(content);
  const std::string_view all = file.content_;
  const std::string_view text = HeaderIn(all, source);
  const json header = ParseUntrustedJson(text, source);
  if (!header.is_object()) {
    // no test: JSON that begins with '{' is one
    ThrowBadTensors(source, "the header is not a JSON object");
  }
  const std::string_view data = all.substr(kLength_bytes + text.size());
  file.metadata_ = MetadataIn(header, source);
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadataEntry) {
      file.tensors_[name] = ParseTensor(source, name, entry, data);
    }
  }
  RequireExactCover(source, file.tensors_, data);
  RequireChecksum(source, file.metadata_, file.tensors_);
  file.metadata_.erase(kChecksumKey);
  return file;
}

std::map<std::string, std::string> SafetensorsFile::MetadataOf(const std::string& path) {
  const MappedFile file(path);
  const auto content = file.content();
  const std::string_view header = HeaderIn({reinterpret_cast<const char*>(content.data()), content.size()}, path);
  return MetadataIn(ParseUntrustedJson(header, path), path);
}

const TensorView& SafetensorsFile::Require(const std::string& name, DType dtype,
                                           const std::vector<int64_t>& shape) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) {
    ThrowBadTensors(source_, fmt::format("tensor {} is missing", name));
  }
  if (it->second.dtype != dtype || it->second.shape != shape) {
    ThrowBadTensors(source_, fmt::format("tensor {} is not {} [{}]", name, DTypeName(dtype), fmt::join(shape, ", ")));
  }
  return it->second;
}

void WriteSafetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                      const std::map<std::string, TensorView>& tensors) {
  json header = json::object();
  header[kMetadataEntry] = metadata;
  header[kMetadataEntry][kChecksumKey] = ChecksumText(metadata, tensors);
  int64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto size_bytes = static_cast<int64_t>(tensor.bytes.size());
    header[name] = {{"dtype", NameOf(tensor.dtype, kTypes)},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + size_bytes}}};
    offset += size_bytes;
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start aligned
  const uint64_t header_bytes = text.size();
  AtomicFile file(path);
  file.Write(&header_bytes, kLength_bytes);
  file.Write(text);
  for (const auto& [name, tensor] : tensors) {
    file.Write(tensor.bytes);
  }
  file.Commit();
}

}  // namespace lamina
