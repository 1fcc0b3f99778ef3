// Answers for rows of raw numbers, the same bits in every batch and on any number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lamina/data/encode/sparse_rows.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"

namespace lamina::python {

/// How raw numbers become those of the network and its outputs those of the caller: (x - offset) / scale, and output *
/// scale + offset. Empty: as they are.
struct Scalings {
  std::vector<double> input_offsets;
  std::vector<double> input_scales;
  std::vector<double> output_offsets;
  std::vector<double> output_scales;
};

/// to = (from - offset) / scale, elements of any type to f32 or f64; returns the first row with a number that is not
/// finite, or -1.
int64_t ScaleRows(ConstMatrixView from, const std::vector<double>& offsets, const std::vector<double>& scales,
                  MatrixView to, int threads);

/// A copy of a network prepared for batches. Callers on several threads wait for one another. The last layer's
/// activation is computed in double precision: a probability near 1 keeps the digits that f32 has not.
class BatchPredictor {
 public:
  /// `backend` for batches, `one_row` (of one thread) for few rows; both outlive it.
  BatchPredictor(const Network& network, Scalings scalings, const Backend& backend, const Backend& one_row);

  /// out: rows of x × outputs, f32 or f64. Returns -1, or the first row of x with a number that is not finite: `out` is
  /// then of no use. Throws Error(kInvalidArgument) where shapes do not fit. Stop points stand between batches.
  int64_t Predict(ConstMatrixView x, MatrixView out);
  /// The same for rows that are scaled and checked already, each by itself on the CPU. Throws as above.
  void Predict(const SparseRows& x, MatrixView out);

  const Network& network() const { return network_; }

 private:
  static constexpr int64_t kFewRows = 4;

  struct Prepared {
    Prepared(const Network& network, const Backend& backend_in, int64_t batch_in)
        : backend(backend_in),
          batch(batch_in),
          executor(network, backend_in, {.max_batch = batch_in, .any_slicing = true}),
          inputs(batch_in, network.inputs(), network.dtype()),
          outputs(batch_in, network.outputs(), network.dtype()) {}
    const Backend& backend;
    int64_t batch;
    Executor executor;
    Matrix inputs;
    Matrix outputs;
  };
  int64_t PredictBatch(Prepared& prepared, ConstMatrixView x, MatrixView out);
  void Answer(ConstMatrixView raw, MatrixView out) const;

  Activation last_;  // that of the network; `network_` ends with what it is applied to
  Network network_;
  Scalings scalings_;
  const Backend& backend_;
  const Backend& one_row_;
  std::mutex mutex_;
  std::unique_ptr<Prepared> few_;
  std::unique_ptr<Prepared> many_;     // made when it is first needed
  std::unique_ptr<Predictor> single_;  // of sparse rows; the same
};

}  // namespace lamina::python
