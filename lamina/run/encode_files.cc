// Rows are encoded in the order of their table, so that its columns are read piece by piece. Each is written to its own
// place in the order asked for.
#include "lamina/run/encode_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/mapped_file.h"
#include "lamina/base/part_file.h"
#include "lamina/base/stop.h"
#include "lamina/data/files/npy_header.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/data/files/npy_writer.h"
#include "lamina/run/checkpoint.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 5> kArrays{"inputs", "targets", "labels", "weights", "baseline"};

std::string PathOf(const std::string& folder, const std::string& part, const std::string& array) {
  return fmt::format("{}/{}_{}.npy", folder, part, array);
}

// A .npy file whose rows are written in any order.
class NpyRows {
 public:
  NpyRows(const std::string& path, int64_t rows, int64_t cols, DType dtype)
      : file_(path), row_bytes_(cols * DTypeSize_bytes(dtype)) {
    const std::string header = NpyHeaderText(rows, cols, dtype);
    offset_ = std::ssize(header);
    WriteAt(file_.descriptor(), header.data(), offset_, 0, file_.path());
  }
  void Write(int64_t row, const void* data) {
    WriteAt(file_.descriptor(), data, row_bytes_, offset_ + row * row_bytes_, file_.path());
  }
  void Commit() { file_.Commit(); }

 private:
  PartFile file_;
  int64_t row_bytes_;
  int64_t offset_ = 0;
};

// The number of elements and the dtype of a column that is kept as rows × 1.
template <class T>
void WriteColumn(const std::vector<T>& values, DType dtype, const std::string& path) {
  if (!values.empty()) {
    WriteNpy(path, {values.data(), std::ssize(values), 1, 1, dtype, Space::kHost});
  }
}

constexpr int64_t kPiece_bytes = 1 << 20;  // that have a checksum

struct Checksums {
  std::string whole;
  std::vector<std::string> pieces;
};

// Checksums of pieces [pieces.begin, pieces.end) of a file that is read piece by piece; `whole` is of those alone.
Checksums ChecksumsOf(const std::string& path, IndexRange pieces) {
  const MappedFile file(path);
  const auto content = file.content();
  Checksums sums;
  uint64_t whole = kHashStart;
  const int64_t end = std::min<int64_t>(std::ssize(content), pieces.end * kPiece_bytes);
  for (int64_t begin = pieces.begin * kPiece_bytes; begin < end; begin += kPiece_bytes) {
    const auto piece =
        content.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(kPiece_bytes, end - begin)));
    whole = HashBytes(whole, piece.data(), std::ssize(piece));
    sums.pieces.push_back(fmt::format("{:016x}", HashBytes(kHashStart, piece.data(), std::ssize(piece))));
    file.mapping().Release(begin, std::ssize(piece));
  }
  sums.whole = fmt::format("{:016x}", whole);
  return sums;
}

IndexRange AllPieces(int64_t file_bytes) { return {0, (file_bytes + kPiece_bytes - 1) / kPiece_bytes}; }

[[noreturn]] void ThrowDamaged(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kBadData, what,
              {.file = path, .remedy = "Encode the data again with lamina data encode, or copy the folder again."});
}

// Features or targets over the file's pages.
Matrix MatrixOver(const std::shared_ptr<RowRange>& file) {
  const ConstMatrixView view = file->Rows(0, file->rows());
  return Matrix::Over({file, const_cast<void*>(view.data)}, view.rows, view.cols, view.dtype);
}

// Those of all `count` rows that are wanted.
template <class T>
std::vector<T> ReadColumn(const std::string& path, DType dtype, int64_t count, IndexRange rows) {
  NpyMatrix file(path);
  if (file.dtype() != dtype || file.rows() != count || file.cols() != 1) {
    ThrowDamaged(path, "does not fit the inputs beside it");
  }
  const auto* values = static_cast<const T*>(file.Rows(rows.begin, rows.count()).data);
  return {values, values + rows.count()};
}

void MapRows(const std::string& folder, const std::string& part, IndexRange rows, Dataset& data) {
  for (const auto& [array, matrix] : {std::pair{"inputs", &data.features}, std::pair{"targets", &data.targets}}) {
    const auto file =
        std::make_shared<RowRange>(std::make_shared<NpyMatrix>(PathOf(folder, part, array)), rows.begin, rows.count());
    *matrix = MatrixOver(file);
    data.files.push_back(file);
  }
}

// Throws Error where the file has another number of rows, or where the header or a piece with rows asked for has
// changed. Folders without checksums of pieces are checked as a whole.
void RequirePieces(const std::string& path, const json& facts, int64_t count, IndexRange rows) {
  const auto file_bytes = facts.at("bytes").get<int64_t>();
  const auto require = [&](IndexRange pieces) {
    const Checksums sums = ChecksumsOf(path, pieces);
    const bool whole = pieces.count() == AllPieces(file_bytes).count();
    for (int64_t i = pieces.begin; !whole && i < pieces.end; ++i) {
      if (sums.pieces.at(static_cast<size_t>(i - pieces.begin)) != facts.at("pieces").at(i).get<std::string>()) {
        ThrowDamaged(path, "is damaged: not the bytes that were written");
      }
    }
    if (whole && sums.whole != facts.at("checksum").get<std::string>()) {
      ThrowDamaged(path, "is damaged: not the bytes that were written");
    }
  };
  const bool all = rows.count() == count || !facts.contains("pieces");
  require(all ? AllPieces(file_bytes) : IndexRange{0, 1});
  const NpyMatrix file(path);
  if (file.rows() != count) {
    ThrowDamaged(path, "does not fit the inputs beside it");
  }
  if (all) {
    return;
  }
  const int64_t row_bytes = file.cols() * DTypeSize_bytes(file.dtype());
  const int64_t first = file_bytes - count * row_bytes;
  require({(first + rows.begin * row_bytes) / kPiece_bytes,
           (first + rows.end * row_bytes + kPiece_bytes - 1) / kPiece_bytes});
}

}  // namespace

Dataset EncodeIntoFiles(const BoundTable& table, std::span<const int64_t> rows, DType dtype, EncodeReport* report,
                        const std::string& folder, const std::string& part, int64_t piece_rows) {
  Dataset data;
  data.rows = table.UsableRows(rows, /*with_targets=*/true);
  const int64_t count = std::ssize(data.rows);
  if (count == 0) {
    return table.Encode(rows, dtype, report);
  }
  std::vector<int64_t> places(data.rows.size());  // in the order of the table
  std::iota(places.begin(), places.end(), int64_t{0});
  std::sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    return data.rows[static_cast<size_t>(a)] < data.rows[static_cast<size_t>(b)];
  });
  std::unique_ptr<NpyRows> inputs;
  std::unique_ptr<NpyRows> targets;
  for (int64_t begin = 0; begin < count; begin += piece_rows) {
    const std::span<const int64_t> at =
        std::span(places).subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(piece_rows, count - begin)));
    std::vector<int64_t> asked;
    std::transform(at.begin(), at.end(), std::back_inserter(asked),
                   [&](int64_t place) { return data.rows[static_cast<size_t>(place)]; });
    const Dataset piece = table.Encode(asked, dtype, report);
    if (inputs == nullptr) {
      inputs = std::make_unique<NpyRows>(PathOf(folder, part, "inputs"), count, piece.features.cols(), dtype);
      targets = std::make_unique<NpyRows>(PathOf(folder, part, "targets"), count, piece.targets.cols(), dtype);
      data.labels.resize(piece.labels.empty() ? 0 : data.rows.size());
      data.baseline.resize(piece.baseline.empty() ? 0 : data.rows.size());
    }
    for (size_t i = 0; i < at.size(); ++i) {
      const auto place = static_cast<size_t>(at[i]);
      inputs->Write(at[i], piece.features.view().Rows(static_cast<int64_t>(i), 1).data);
      targets->Write(at[i], piece.targets.view().Rows(static_cast<int64_t>(i), 1).data);
      if (!data.labels.empty()) {
        data.labels[place] = piece.labels[i];
      }
      if (!data.baseline.empty()) {
        data.baseline[place] = piece.baseline[i];
      }
    }
    StopPoint();
  }
  inputs->Commit();
  targets->Commit();
  WriteColumn(data.labels, DType::kI32, PathOf(folder, part, "labels"));
  WriteColumn(data.baseline, DType::kF64, PathOf(folder, part, "baseline"));
  MapRows(folder, part, {0, count}, data);
  return data;
}

void WriteSampleWeights(const Dataset& data, const std::string& folder, const std::string& part) {
  WriteColumn(data.sample_weights, DType::kF64, PathOf(folder, part, "weights"));
}

bool IsFileOfPart(std::string_view name, std::string_view part) {
  return std::any_of(kArrays.begin(), kArrays.end(),
                     [&](const char* array) { return name == fmt::format("{}_{}.npy", part, array); });
}

json DescribeFiles(const std::string& folder, const std::string& part) {
  json files = json::object();
  for (const char* array : kArrays) {
    const std::string path = PathOf(folder, part, array);
    std::error_code absent;
    if (const auto size = std::filesystem::file_size(path, absent); !absent) {
      Checksums sums = ChecksumsOf(path, AllPieces(static_cast<int64_t>(size)));
      files[array] = {{"bytes", size}, {"checksum", std::move(sums.whole)}, {"pieces", std::move(sums.pieces)}};
    }
  }
  return files;
}

Dataset OpenFiles(const json& description, const std::string& folder, const std::string& part,
                  const ChooseRows& choose) {
  Dataset data;
  for (const auto& [array, facts] : description.items()) {
    const std::string path = PathOf(folder, part, array);
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    if (failed) {
      ThrowDamaged(path, "is missing in the encoded data");
    }
    if (size != facts.at("bytes").get<uint64_t>()) {
      ThrowDamaged(path, fmt::format("has {} bytes, and {} were written", size, facts.at("bytes").get<uint64_t>()));
    }
  }
  if (!description.contains("inputs")) {
    return data;
  }
  const int64_t count = NpyMatrix(PathOf(folder, part, "inputs")).rows();
  const IndexRange rows = choose ? choose(count) : IndexRange{0, count};
  for (const auto& [array, facts] : description.items()) {
    RequirePieces(PathOf(folder, part, array), facts, count, rows);
  }
  MapRows(folder, part, rows, data);
  if (description.contains("labels")) {
    data.labels = ReadColumn<int32_t>(PathOf(folder, part, "labels"), DType::kI32, count, rows);
  }
  if (description.contains("weights")) {
    data.sample_weights = ReadColumn<double>(PathOf(folder, part, "weights"), DType::kF64, count, rows);
  }
  if (description.contains("baseline")) {
    data.baseline = ReadColumn<double>(PathOf(folder, part, "baseline"), DType::kF64, count, rows);
  }
  return data;
}

}  // namespace lamina
