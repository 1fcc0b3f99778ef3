// How fast a file becomes a standardized matrix: read, decompressed, parsed, fitted and encoded.
#pragma once

#include <cstdint>
#include <string>

namespace lamina {

struct DataBenchmarkResult {
  int64_t rows = 0;          // of the file
  int64_t dropped_rows = 0;  // with missing values
  int64_t columns = 0;
  int64_t inputs = 0;      // of the matrix, f32
  int64_t file_bytes = 0;  // as it lies on the disk
  int rounds = 0;
  double median_seconds = 0;
  double least_seconds = 0;
  double most_seconds = 0;
  double read_seconds = 0;  // of the median: to the table; the rest is fitting and encoding
  bool verified = false;    // every input has the mean 0 and the deviation 1 (or is constant), in double precision
  double largest_error = 0;
};

/// Text columns as numbers (ordinal), the last column as the target as far as it goes. `path` as for ReadData(). Throws
/// Error.
DataBenchmarkResult BenchmarkData(const std::string& path, int rounds);

}  // namespace lamina
