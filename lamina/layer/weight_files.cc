// Parameters as CSV and .npy.
#include "lamina/layer/weight_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "lamina/base/file.h"
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
  std::vector<std::string> paths;
  const auto write = [&](size_t layer, const char* what, ConstMatrixView matrix) {
    const char* ending = format == WeightFormat::kCsv ? "csv" : "npy";
    paths.push_back((std::filesystem::path(folder) / fmt::format("layer-{}-{}.{}", layer + 1, what, ending)).string());
    if (format == WeightFormat::kCsv) {
      WriteFileAtomically(paths.back(), CsvOf(matrix));
    } else {
      WriteNpy(paths.back(), matrix);
    }
  };
  for (size_t l = 0; l < network.layers().size(); ++l) {
    const int64_t outputs = network.layers()[l].outputs;
    write(l, "weight", network.Weights(l));
    if (network.Bias(l) != nullptr) {
      write(l, "bias", {network.Bias(l), 1, outputs, outputs, network.dtype(), Space::kHost});
    }
    if (network.Radii(l) != nullptr) {
      write(l, "radius", {network.Radii(l), 1, outputs, outputs, network.dtype(), Space::kHost});
    }
  }
  return paths;
}

}  // namespace lamina
