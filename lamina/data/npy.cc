// .npy reader (format: numpy.lib.format): a strict parser of the header, then a view of the data.
#include "lamina/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t data_offset = 0;
};

[[noreturn]] void ThrowBad(const std::string& source, const std::string& message, std::string_view value = {},
                           const char* remedy = "Write it again with numpy.save().") {
  throw Error(ErrorCode::kBadData, message,
              {.file = source, .value = std::string(value.substr(0, 120)), .remedy = remedy});
}

// Parses the Python dictionary literal of the header, which has exactly the keys descr, fortran_order and
// shape.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source) : text_(text), rest_(text), source_(source) {}

  NpyHeader Parse() {
    NpyHeader header;
    bool seen[3] = {};
    Expect('{');
    while (!Accept('}')) {
      const std::string key = Quoted();
      Expect(':');
      const size_t which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : 3;
      if (which == 3 || seen[which]) {
        Fail();
      }
      seen[which] = true;
      if (which == 0) {
        header.descr = Quoted();
      } else if (which == 1) {
        header.fortran_order = Boolean();
      } else {
        header.shape = Shape();
      }
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    SkipSpace();
    if (!rest_.empty() || !seen[0] || !seen[1] || !seen[2]) {
      Fail();
    }
    return header;
  }

 private:
  [[noreturn]] void Fail() const { ThrowBad(source_, "broken .npy header", text_); }
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.size(), rest_.find_first_not_of(" \t\n"))); }
  bool Accept(char c) {
    SkipSpace();
    if (rest_.empty() || rest_[0] != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) {
      Fail();
    }
  }
  std::string Quoted() {
    SkipSpace();
    if (rest_.starts_with('[')) {
      ThrowBad(source_, "an array of records, one of numbers was expected", text_);
    }
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const size_t close = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (close == std::string_view::npos) {
      Fail();
    }
    std::string word(rest_.substr(1, close - 1));
    rest_.remove_prefix(close + 1);
    return word;
  }
  bool Boolean() {
    SkipSpace();
    for (const std::string_view word : {"True", "False"}) {
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    }
    Fail();
  }
  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape;
    Expect('(');
    while (!Accept(')')) {
      SkipSpace();
      const size_t length = std::min(rest_.size(), rest_.find_first_not_of("0123456789"));
      const auto size = ParseInteger(rest_.substr(0, length));
      if (!size) {
        Fail();
      }
      shape.push_back(*size);
      rest_.remove_prefix(length);
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  std::string_view rest_;
  const std::string& source_;
};

NpyHeader ParseHeader(std::string_view content, const std::string& source) {
  if (!content.starts_with(kMagic) || content.size() < 12) {
    ThrowBad(source, "not a .npy file (no \\x93NUMPY at its start)");
  }
  const int major = static_cast<uint8_t>(content[6]);
  if (major < 1 || major > 3) {
    ThrowBad(source, "unknown version of the .npy format", std::to_string(major));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t b = 0; b < length_bytes; ++b) {
    length |= static_cast<size_t>(static_cast<uint8_t>(content[8 + b])) << (8 * b);
  }
  const size_t start = 8 + length_bytes;
  if (length > content.size() - start) {
    ThrowBad(source, fmt::format("truncated: header of {} bytes, file holds {}", length, content.size() - start));
  }
  NpyHeader header = HeaderParser(content.substr(start, length), source).Parse();
  header.data_offset = start + length;
  return header;
}

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
  ThrowBad(source, "cannot read elements of this type", descr,
           "Convert the array to numbers, for instance with a.astype('f4').");
}

// Bytes of the data, after checking the shape against the file.
size_t CheckSize(const NpyHeader& header, const TypeRow& type, size_t held_bytes, const std::string& source) {
  std::string shape = fmt::format("({}{})", fmt::join(header.shape, ", "), header.shape.size() == 1 ? "," : "");
  if (header.shape.empty() || header.shape.size() > 2) {
    ThrowBad(source, "an array of one or two dimensions was expected, this one has the shape", shape,
             "Reshape it, for instance with a.reshape(len(a), -1).");
  }
  int64_t need_bytes = type.size_bytes;
  for (const int64_t size : header.shape) {
    if (__builtin_mul_overflow(need_bytes, size, &need_bytes)) {
      ThrowBad(source, "shape of more elements than can be counted", shape);
    }
  }
  if (need_bytes == 0) {
    ThrowBad(source, "holds no data, its shape is", shape);
  }
  if (static_cast<uint64_t>(need_bytes) != held_bytes) {
    ThrowBad(source, fmt::format("{}: shape {} of {} needs {} bytes, file holds {}",
                                 held_bytes < static_cast<uint64_t>(need_bytes) ? "truncated" : "too long", shape,
                                 header.descr, need_bytes, held_bytes));
  }
  return static_cast<size_t>(need_bytes);
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
  return start.starts_with(kMagic) || path.ends_with(".npy");
}

Table ReadNpy(std::string content, const std::string& source, const ReadOptions&) {
  const NpyHeader header = ParseHeader(content, source);
  const TypeRow& type = FindType(header.descr, source);
  const size_t size_bytes = CheckSize(header, type, content.size() - header.data_offset, source);
  const bool big = header.descr[0] == '>' || (header.descr[0] == '=' && std::endian::native == std::endian::big);
  if (big != (std::endian::native == std::endian::big) && type.size_bytes > 1) {
    SwapBytes(content.data() + header.data_offset, size_bytes, static_cast<size_t>(type.size_bytes));
  }
  Table table;
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
