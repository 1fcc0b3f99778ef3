// .npy reader (format: numpy.lib.format): a view of the data.
#include "lamina/data/files/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/data/files/npy_header.h"

namespace lamina {
namespace {

// How one element type is stored and read.
struct TypeRow {
  std::string_view name;  // without the byte order
  int size_bytes;
  DType dtype;                                               // as read
  void (*convert)(const char* in, size_t count, void* out);  // null: same bytes
};

template <class From, class To>
void ConvertAll(const char* in, size_t count, void* out) {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, in + i * sizeof(From), sizeof(From));
    static_cast<To*>(out)[i] = static_cast<To>(value);
  }
}

void ConvertHalves(const char* in, size_t count, void* out) {
  for (size_t i = 0; i < count; ++i) {
    Float16 half;
    std::memcpy(&half.bits, in + 2 * i, 2);
    static_cast<float*>(out)[i] = static_cast<float>(half);
  }
}

constexpr TypeRow kTypes[] = {
    {"f8", 8, DType::kF64, nullptr},
    {"f4", 4, DType::kF32, nullptr},
    {"f2", 2, DType::kF32, ConvertHalves},
    {"i8", 8, DType::kI64, nullptr},
    {"i4", 4, DType::kI32, nullptr},
    {"i2", 2, DType::kI16, nullptr},
    {"i1", 1, DType::kI8, nullptr},
    {"u1", 1, DType::kU8, nullptr},
    {"b1", 1, DType::kU8, nullptr},
    {"u2", 2, DType::kF64, ConvertAll<uint16_t, double>},
    {"u4", 4, DType::kF64, ConvertAll<uint32_t, double>},
    {"u8", 8, DType::kF64, ConvertAll<uint64_t, double>},
};

const TypeRow& FindType(const std::string& descr, const std::string& source) {
  const std::string_view text = descr;
  for (const TypeRow& row : kTypes) {
    const bool order = text.size() == 3 && std::string_view("<>|=").find(text[0]) != std::string_view::npos;
    if (order && text.substr(1) == row.name && (text[0] != '|' || row.size_bytes == 1)) {
      return row;
    }
  }
  ThrowBadNpy(source, "cannot read elements of this type", descr,
              "Convert the array to numbers, for instance with a.astype('f4').");
}

void SwapBytes(char* data, size_t size_bytes, size_t element_bytes) {
  for (size_t i = 0; i < size_bytes; i += element_bytes) {
    std::reverse(data + i, data + i + element_bytes);
  }
}

// The elements in native form: `content` itself where its bytes will do.
std::shared_ptr<const void> NativeElements(std::string content, size_t offset, size_t size_bytes, const TypeRow& type,
                                           const void*& data) {
  auto owner = std::make_shared<std::string>(std::move(content));
  const char* in = owner->data() + offset;
  const bool aligned = reinterpret_cast<uintptr_t>(in) % static_cast<size_t>(type.size_bytes) == 0;
  if (type.convert == nullptr && aligned) {
    data = in;
    return owner;
  }
  const size_t count = size_bytes / static_cast<size_t>(type.size_bytes);
  const size_t out_bytes = count * static_cast<size_t>(DTypeSize_bytes(type.dtype));
  auto copy = std::make_shared<std::vector<double>>((out_bytes + 7) / 8);  // doubles for their alignment
  if (type.convert != nullptr) {
    type.convert(in, count, copy->data());
  } else {
    std::memcpy(copy->data(), in, size_bytes);
  }
  data = copy->data();
  return copy;
}

// The first infinite element, or `count`.
template <class T>
size_t FindInfinite(const void* data, size_t count) {
  const auto* values = static_cast<const T*>(data);
  return static_cast<size_t>(std::find_if(values, values + count, [](T v) { return std::isinf(v); }) - values);
}

// Infinities are refused here, where row and column are known.
void CheckFinite(const Table& table, DType dtype, const void* data, bool by_column) {
  const size_t count = static_cast<size_t>(table.rows) * table.columns.size();
  const size_t found = dtype == DType::kF32   ? FindInfinite<float>(data, count)
                       : dtype == DType::kF64 ? FindInfinite<double>(data, count)
                                              : count;
  if (found == count) {
    return;
  }
  const size_t rows = static_cast<size_t>(table.rows);
  const size_t row = by_column ? found % rows : found / table.columns.size();
  const size_t column = by_column ? found / rows : found % table.columns.size();
  throw Error(ErrorCode::kBadData, fmt::format("not a finite number in row {} (counted from 0)", row),
              {.file = table.source,
               .column = table.columns[column].name,
               .value = fmt::format("{}", table.columns[column].Number(static_cast<int64_t>(row))),
               .remedy = "Replace it, or use NaN for missing values."});
}

}  // namespace

bool LooksLikeNpy(std::string_view start, std::string_view path) {
  return start.starts_with(kNpyMagic) || path.ends_with(".npy");
}

Table ReadNpy(std::string content, const std::string& source, const ReadOptions&) {
  const NpyHeader header = ParseNpyHeader(content, source);
  const TypeRow& type = FindType(header.descr, source);
  if (header.shape.empty() || header.shape.size() > 2) {
    ThrowBadNpy(source, "an array of one or two dimensions was expected, this one has the shape", header.ShapeText(),
                "Reshape it, for instance with a.reshape(len(a), -1).");
  }
  const auto size_bytes =
      static_cast<size_t>(NpyData_bytes(header, type.size_bytes, content.size() - header.data_offset, source));
  const bool big = header.descr[0] == '>' || (header.descr[0] == '=' && std::endian::native == std::endian::big);
  if (big != (std::endian::native == std::endian::big) && type.size_bytes > 1) {
    SwapBytes(content.data() + header.data_offset, size_bytes, static_cast<size_t>(type.size_bytes));
  }
  Table table;
  table.has_names = false;
  table.source = source;
  table.rows = header.shape[0];
  const int64_t columns = header.shape.size() == 1 ? 1 : header.shape[1];
  const void* data = nullptr;
  const auto owner = NativeElements(std::move(content), header.data_offset, size_bytes, type, data);
  const bool by_column = header.fortran_order && columns > 1;
  table.columns.resize(static_cast<size_t>(columns));
  for (int64_t j = 0; j < columns; ++j) {
    Column& column = table.columns[static_cast<size_t>(j)];
    column.name = fmt::format("c{}", j);
    column.numbers =
        static_cast<const std::byte*>(data) + j * (by_column ? table.rows : 1) * DTypeSize_bytes(type.dtype);
    column.dtype = type.dtype;
    column.stride = by_column ? 1 : columns;
    column.owner = owner;
  }
  CheckFinite(table, type.dtype, data, by_column);
  return table;
}

}  // namespace lamina
