// IDX reader (format: http://yann.lecun.com/exdb/mnist) and the folders of four files that MNIST and its kin
// come in.
#include "lamina/data/files/idx.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/data/files/gzip.h"

namespace lamina {
namespace {

struct ElementRow {
  uint8_t code;
  DType dtype;
};
constexpr std::array<ElementRow, 6> kElements{{{0x08, DType::kU8},
                                               {0x09, DType::kI8},
                                               {0x0B, DType::kI16},
                                               {0x0C, DType::kI32},
                                               {0x0D, DType::kF32},
                                               {0x0E, DType::kF64}}};

struct IdxHeader {
  DType dtype = DType::kU8;
  std::vector<int64_t> shape;
  size_t size_bytes = 0;  // of the header itself
};

uint8_t Byte(std::string_view content, size_t i) { return static_cast<uint8_t>(content[i]); }

[[noreturn]] void ThrowBadIdx(const std::string& source, const std::string& message, const std::string& value = {}) {
  throw Error(ErrorCode::kBadData, message,
              {.file = source, .value = value, .remedy = "Fetch the file again, or check that it is an IDX file."});
}

const ElementRow* FindElement(uint8_t code) {
  const auto* row = std::find_if(kElements.begin(), kElements.end(), [&](auto& e) { return e.code == code; });
  return row == kElements.end() ? nullptr : row;
}

IdxHeader ParseHeader(std::string_view content, const std::string& source) {
  if (content.size() < 4) {
    ThrowBadIdx(source, fmt::format("too short for an IDX header: {} bytes", content.size()));
  }
  const ElementRow* element = FindElement(Byte(content, 2));
  const size_t dimensions = Byte(content, 3);
  if (content[0] != 0 || content[1] != 0 || element == nullptr || dimensions < 1 || dimensions > 4) {
    ThrowBadIdx(source, "wrong IDX magic number (00 00, an element type 08-0e and 1 to 4 dimensions expected)",
                fmt::format("{:02x} {:02x} {:02x} {:02x}", Byte(content, 0), Byte(content, 1), Byte(content, 2),
                            Byte(content, 3)));
  }
  IdxHeader header{element->dtype, {}, 4 + 4 * dimensions};
  if (content.size() < header.size_bytes) {
    ThrowBadIdx(source, fmt::format("IDX header cut off: {} of {} bytes", content.size(), header.size_bytes));
  }
  for (size_t d = 0; d < dimensions; ++d) {
    int64_t size = 0;
    for (size_t b = 0; b < 4; ++b) {
      size = size << 8 | Byte(content, 4 + 4 * d + b);
    }
    header.shape.push_back(size);
  }
  return header;
}

// Elements per row, after checking that the file holds exactly what the header says.
int64_t CheckSize(const IdxHeader& header, std::string_view content, const std::string& source) {
  int64_t row_elements = 1;
  int64_t need_bytes = 0;
  bool overflow = false;
  for (size_t d = 1; d < header.shape.size(); ++d) {
    overflow |= __builtin_mul_overflow(row_elements, header.shape[d], &row_elements);
  }
  overflow |= __builtin_mul_overflow(row_elements, header.shape[0], &need_bytes);
  overflow |= __builtin_mul_overflow(need_bytes, DTypeSize_bytes(header.dtype), &need_bytes);
  const std::span<const int64_t> sizes(header.shape);
  const std::string what = sizes.size() == 1
                               ? fmt::format("{} values", sizes[0])
                               : fmt::format("{} {} of {}", sizes[0], sizes.size() == 3 ? "images" : "rows",
                                             fmt::join(sizes.subspan(1), "x"));
  if (overflow) {
    ThrowBadIdx(source, fmt::format("header says {}: more bytes than can be counted", what));
  }
  const auto held_bytes = static_cast<int64_t>(content.size() - header.size_bytes);
  if (held_bytes != need_bytes) {
    ThrowBadIdx(source, fmt::format("header says {} = {} bytes, file holds {}", what, need_bytes, held_bytes));
  }
  if (need_bytes == 0) {
    ThrowBadIdx(source, fmt::format("holds no data (header says {})", what));
  }
  return row_elements;
}

// The elements in native byte order: the content itself for bytes, else an aligned and swapped copy.
std::shared_ptr<const void> NativeElements(std::string content, const IdxHeader& header, const void*& data) {
  const auto size = static_cast<size_t>(DTypeSize_bytes(header.dtype));
  if (size == 1) {
    auto owner = std::make_shared<const std::string>(std::move(content));
    data = owner->data() + header.size_bytes;
    return owner;
  }
  const size_t bytes = content.size() - header.size_bytes;
  auto owner = std::make_shared<std::vector<double>>((bytes + 7) / 8);  // doubles for their alignment
  auto* out = reinterpret_cast<char*>(owner->data());
  const char* in = content.data() + header.size_bytes;
  for (size_t i = 0; i < bytes; i += size) {
    std::reverse_copy(in + i, in + i + size, out + i);
  }
  data = out;
  return owner;
}

// "train-images-idx3-ubyte", also spelled with ".idx3", with or without ".gz"; empty if there is none.
std::string FindPart(const std::filesystem::path& folder, const char* set, const char* what) {
  for (const char* joint : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      const auto path = folder / fmt::format("{}-{}{}{}-ubyte{}", set, what, joint,
                                             std::string_view(what) == "images" ? "idx3" : "idx1", ending);
      if (std::error_code error; std::filesystem::is_regular_file(path, error)) {
        return path.string();
      }
    }
  }
  return {};
}

// Numeric labels become text categories, sorted by value.
Column LabelColumn(const Column& numbers, int64_t rows) {
  std::array<int32_t, 256> code_of{};
  std::array<bool, 256> seen{};
  const auto* labels = static_cast<const uint8_t*>(numbers.numbers);
  for (int64_t i = 0; i < rows; ++i) {
    seen[labels[i]] = true;
  }
  Column column;
  column.name = "label";
  column.kind = ColumnKind::kText;
  for (size_t value = 0; value < seen.size(); ++value) {
    if (seen[value]) {
      code_of[value] = static_cast<int32_t>(column.categories.size());
      column.categories.push_back(std::to_string(value));
    }
  }
  column.codes.resize(static_cast<size_t>(rows));
  std::transform(labels, labels + rows, column.codes.begin(), [&](uint8_t label) { return code_of[label]; });
  return column;
}

Table ReadPair(const std::string& images_path, const std::string& labels_path, const ReadOptions& options) {
  Table images = ReadIdx(ReadFileDecompressed(images_path), images_path, options);
  const Table labels = ReadIdx(ReadFileDecompressed(labels_path), labels_path, options);
  if (labels.columns.size() != 1 || labels.columns[0].dtype != DType::kU8) {
    ThrowBadIdx(labels_path, "labels must be one unsigned byte each");
  }
  if (labels.rows != images.rows) {
    ThrowBadIdx(labels_path,
                fmt::format("holds {} labels, but '{}' holds {} images", labels.rows, images_path, images.rows));
  }
  images.columns.push_back(LabelColumn(labels.columns[0], labels.rows));
  return images;
}

}  // namespace

bool LooksLikeIdx(std::string_view start, std::string_view path) {
  if (path.ends_with("-idx3-ubyte") || path.ends_with("-idx1-ubyte") || path.ends_with(".idx3-ubyte") ||
      path.ends_with(".idx1-ubyte")) {
    return true;
  }
  return start.size() >= 4 && start[0] == 0 && start[1] == 0 && FindElement(Byte(start, 2)) != nullptr &&
         start[3] >= 1 && start[3] <= 4;
}

Table ReadIdx(std::string content, const std::string& source, const ReadOptions&) {
  const IdxHeader header = ParseHeader(content, source);
  const int64_t row_elements = CheckSize(header, content, source);
  const size_t dimensions = header.shape.size();
  Table table;
  table.has_names = false;
  table.source = source;
  table.rows = header.shape[0];
  table.is_image = dimensions == 3;
  if (table.is_image) {
    table.image_height = header.shape[1];
    table.image_width = header.shape[2];
  }
  const void* data = nullptr;
  const auto owner = NativeElements(std::move(content), header, data);
  table.columns.resize(static_cast<size_t>(row_elements));
  for (int64_t j = 0; j < row_elements; ++j) {
    Column& column = table.columns[static_cast<size_t>(j)];
    column.name = dimensions == 1 ? "label" : fmt::format("{}{}", dimensions == 2 ? 'c' : 'p', j);
    column.numbers = static_cast<const std::byte*>(data) + j * DTypeSize_bytes(header.dtype);
    column.dtype = header.dtype;
    column.stride = row_elements;
    column.owner = owner;
  }
  return table;
}

std::vector<std::string> IdxFolderFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const char* set : {"train", "t10k"}) {
    for (const char* what : {"images", "labels"}) {
      if (std::string path = FindPart(folder, set, what); !path.empty()) {
        files.push_back(std::move(path));
      }
    }
  }
  return files;
}

ReadResult ReadIdxFolder(const std::string& folder, const ReadOptions& options) {
  const std::filesystem::path path(folder);
  const std::string images = FindPart(path, "train", "images");
  const std::string labels = FindPart(path, "train", "labels");
  if (images.empty() || labels.empty()) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("no {} in this folder",
                            images.empty() ? "train-images-idx3-ubyte[.gz]" : "train-labels-idx1-ubyte[.gz]"),
                {.file = folder,
                 .remedy = "Name a data file, or a folder with the IDX files {train,t10k}-images-idx3-ubyte[.gz] and "
                           "{train,t10k}-labels-idx1-ubyte[.gz]."});
  }
  ReadResult result;
  result.train = ReadPair(images, labels, options);
  result.target = "label";
  const std::string test_images = FindPart(path, "t10k", "images");
  const std::string test_labels = FindPart(path, "t10k", "labels");
  if (test_images.empty() != test_labels.empty()) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("the test set is half there: no t10k-{}-ubyte[.gz]",
                            test_images.empty() ? "images-idx3" : "labels-idx1"),
                {.file = folder, .remedy = "Add the missing file or take the other one away."});
  }
  if (!test_images.empty()) {
    result.test = ReadPair(test_images, test_labels, options);
  }
  return result;
}

}  // namespace lamina
