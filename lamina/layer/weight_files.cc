// Parameters as CSV and .npy.
#include "lamina/layer/weight_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "lamina/base/file_set.h"
#include "lamina/base/output_folder.h"
#include "lamina/data/files/npy_writer.h"

namespace lamina {
namespace {

std::string CsvOf(ConstMatrixView matrix) {
  std::string text;
  DispatchFloat(matrix.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < matrix.rows; ++i) {
      const T* row = matrix.Row<T>(i);
      for (int64_t j = 0; j < matrix.cols; ++j) {
        text += fmt::format("{}{}", row[j], j + 1 == matrix.cols ? "\n" : ",");
      }
    }
  });
  return text;
}

}  // namespace

std::vector<std::string> WriteWeightFiles(const Network& network, WeightFormat format, const std::string& folder) {
  struct File {
    std::string name;
    ConstMatrixView matrix;
  };
  std::vector<File> files;
  const auto add = [&](size_t layer, const char* what, ConstMatrixView matrix) {
    const char* ending = format == WeightFormat::kCsv ? "csv" : "npy";
    files.push_back({fmt::format("layer-{}-{}.{}", layer + 1, what, ending), matrix});
  };
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const int64_t outputs = network.layers()[l].outputs;
    add(l, "weight", network.Weights(l));
    if (network.Bias(l) != nullptr) {
      add(l, "bias", {network.Bias(l), 1, outputs, outputs, network.dtype(), Space::kHost});
    }
    if (network.Radii(l) != nullptr) {
      add(l, "radius", {network.Radii(l), 1, outputs, outputs, network.dtype(), Space::kHost});
    }
  }
  std::vector<std::string> names;
  std::transform(files.begin(), files.end(), std::back_inserter(names), [](const File& file) { return file.name; });
  FileSet set;
  ClaimNames(folder, names, set);
  std::vector<std::string> paths;
  for (const File& file : files) {
    paths.push_back((std::filesystem::path(folder) / file.name).string());
    if (format == WeightFormat::kCsv) {
      set.Add(paths.back(), CsvOf(file.matrix));
    } else {
      WriteNpy(set.Begin(paths.back()), file.matrix);
    }
  }
  set.Commit();
  return paths;
}

}  // namespace lamina
