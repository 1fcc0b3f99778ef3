// Names and sizes of element types, in one table.
#include "lamina/base/dtype.h"

#include <array>
#include <string>
#include <vector>

#include "lamina/base/names.h"

namespace lamina {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  int64_t size_bytes;
};

constexpr std::array<DTypeRow, 9> kDTypes{{{DType::kF64, "f64", 8},
                                           {DType::kF32, "f32", 4},
                                           {DType::kF16, "f16", 2},
                                           {DType::kBF16, "bf16", 2},
                                           {DType::kI64, "i64", 8},
                                           {DType::kI32, "i32", 4},
                                           {DType::kI16, "i16", 2},
                                           {DType::kI8, "i8", 1},
                                           {DType::kU8, "u8", 1}}};

}  // namespace

std::string_view DTypeName(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }

int64_t DTypeSize_bytes(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size_bytes; }

DType ParseDType(std::string_view name) {
  std::vector<std::string> names;
  names.reserve(kDTypes.size());
  for (const DTypeRow& row : kDTypes) {
    names.emplace_back(row.name);
  }
  return kDTypes[IndexOfName(name, names, "unknown data type")].dtype;
}

}  // namespace lamina
