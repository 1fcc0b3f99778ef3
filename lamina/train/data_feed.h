// A data set as training and validation ask for it: samples in an order, wherever the backend can reach them.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <span>
#include <vector>

#include "lamina/backend/copy_streams.h"
#include "lamina/backend/training_steps.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"
#include "lamina/train/resident_dataset.h"

namespace lamina {

/// Where the rows fit, they are placed once. If rows are in files, only `window_rows` may be in memory at once; they
/// pass through as on a device that is too small. On a device with too little free memory, rows pass in chunks of whole
/// batches. Another thread collects a chunk in the order asked for and copies it while the steps of the chunk before
/// run. The steps, and their results, are the same. One caller at a time.
class DataFeed {
 public:
  /// The share of a device's free memory that rows may take to be placed there as a whole.
  static constexpr double kShareOfFreeMemory = 0.6;

  /// The data set and the backend must outlive it. Throws Error(kResource) where not even two batches fit.
  /// `window_rows`: whole batches; 0: all rows. Sparse rows become dense in windows.
  DataFeed(const Dataset& dataset, const Backend& backend, int64_t batch, int64_t window_rows = 0);
  ~DataFeed();

  const Dataset& dataset() const { return dataset_; }
  int64_t rows() const { return dataset_.size(); }
  bool is_classification() const { return !dataset_.labels.empty(); }
  /// Whether rows pass through in chunks, of so many samples.
  bool is_streamed() const { return stream_ != nullptr; }
  int64_t chunk_samples() const;

  /// From now on sample i is row order[i]; empty: row i.
  void SetOrder(std::span<const int64_t> order);
  /// Sets x, targets, sample_weights, order, begin and end of `work` to samples [begin, end), or fewer where a chunk
  /// ends before. They are there until the next call. `begin` is a whole number of batches.
  void Load(int64_t begin, int64_t end, TrainingSteps& work);

 private:
  struct Stream;
  void LoadChunk(int64_t chunk);

  const Dataset& dataset_;
  const Backend& backend_;
  std::unique_ptr<ResidentDataset> resident_;
  std::unique_ptr<Buffer> order_;  // of the rows, or of the stream's
  bool ordered_ = false;
  std::unique_ptr<Stream> stream_;
};

/// Throws Error(kInvalidArgument) where `data` are not rows for `network`.
void RequireFit(const Dataset& data, const Network& network);

}  // namespace lamina
