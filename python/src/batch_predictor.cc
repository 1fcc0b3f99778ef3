// Batches through an executor that promises the same bits for every slicing. Few rows go to one of their own, whose
// kernels are planned for them and which wakes no threads.
#include "python/src/batch_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina::python {
namespace {

constexpr int64_t kNumbersForTwoThreads = 1 << 16;
constexpr int64_t kAnswersForTwoThreads = 1 << 12;
constexpr int64_t kBatch = 1024;  // rows at most
constexpr int64_t kLeastBatch = 64;
constexpr int64_t kSynapsesOfBatch = int64_t{1} << 31;  // some hundredths of a second before the next stop point

int64_t BatchFor(const Network& network) {
  int64_t synapses = 1;
  for (const LayerSpec& layer : network.layers()) {
    synapses += layer.weight_count();
  }
  return std::clamp(kSynapsesOfBatch / synapses / std::max<int64_t>(1, network.members()), kLeastBatch, kBatch);
}

template <class From, class To>
bool ScaleRow(const From* from, int64_t count, const double* offsets, const double* scales, To* to) {
  bool finite = true;
  if (offsets == nullptr) {
    for (int64_t j = 0; j < count; ++j) {
      to[j] = static_cast<To>(AsNumber(from[j]));
      finite &= std::abs(to[j]) <= std::numeric_limits<To>::max();
    }
    return finite;
  }
  for (int64_t j = 0; j < count; ++j) {
    to[j] = static_cast<To>((static_cast<double>(AsNumber(from[j])) - offsets[j]) / scales[j]);
    finite &= std::abs(to[j]) <= std::numeric_limits<To>::max();
  }
  return finite;
}

void RequireShapes(int64_t rows, int64_t cols, const Network& network, const MatrixView& out) {
  if (cols != network.inputs() || out.rows != rows || out.cols != network.outputs()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} x {} and out {} x {}; the network has {} inputs and {} outputs", rows, cols,
                            out.rows, out.cols, network.inputs(), network.outputs()));
  }
}

// Whether the last activation is applied to what one layer computes.
bool EndsPlainly(const Network& network) { return !network.layers().back().trained_radius && network.members() == 1; }

Network WithoutLastActivation(const Network& network) {
  if (!EndsPlainly(network)) {
    return network;
  }
  std::vector<LayerSpec> layers = network.layers();
  layers.back().activation = Activation();
  Network copy(std::move(layers), network.dtype());
  std::memcpy(copy.parameters(), network.parameters(), static_cast<size_t>(network.parameter_bytes()));
  return copy;
}

}  // namespace

int64_t ScaleRows(ConstMatrixView from, const std::vector<double>& offsets, const std::vector<double>& scales,
                  MatrixView to, int threads) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> first{kNone};
  const int used = from.rows * from.cols < kNumbersForTwoThreads ? 1 : threads;
  DispatchDType(from.dtype, [&]<class From>(From) {
    DispatchFloat(to.dtype, [&]<class To>(To) {
      RunParts(used, from.rows, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (!ScaleRow(from.Row<const From>(i), from.cols, offsets.empty() ? nullptr : offsets.data(), scales.data(),
                        to.Row<To>(i))) {
            int64_t seen = first.load();
            while (i < seen && !first.compare_exchange_weak(seen, i)) {
            }
            return;
          }
        }
      });
    });
  });
  return first == kNone ? -1 : first.load();
}

BatchPredictor::BatchPredictor(const Network& network, Scalings scalings, const Backend& backend,
                               const Backend& one_row)
    : last_(EndsPlainly(network) ? network.layers().back().activation : Activation()),
      network_(WithoutLastActivation(network)),
      scalings_(std::move(scalings)),
      backend_(backend),
      one_row_(one_row) {
  few_ = std::make_unique<Prepared>(network_, one_row_, kFewRows);
}

int64_t BatchPredictor::Predict(ConstMatrixView x, MatrixView out) {
  RequireShapes(x.rows, x.cols, network_, out);
  const std::lock_guard lock(mutex_);
  if (x.rows <= kFewRows) {
    return PredictBatch(*few_, x, out);
  }
  if (many_ == nullptr) {
    many_ = std::make_unique<Prepared>(network_, backend_, BatchFor(network_));
  }
  for (int64_t begin = 0; begin < x.rows; begin += many_->batch) {
    StopPoint();
    const int64_t rows = std::min(many_->batch, x.rows - begin);
    if (const int64_t wrong = PredictBatch(*many_, x.Rows(begin, rows), out.Rows(begin, rows)); wrong >= 0) {
      return begin + wrong;
    }
  }
  return -1;
}

int64_t BatchPredictor::PredictBatch(Prepared& prepared, ConstMatrixView x, MatrixView out) {
  MatrixView inputs = prepared.inputs.view();
  inputs.rows = x.rows;
  const int threads = prepared.backend.threads();
  if (const int64_t wrong = ScaleRows(x, scalings_.input_offsets, scalings_.input_scales, inputs, threads);
      wrong >= 0) {
    return wrong;
  }
  MatrixView outputs = prepared.outputs.view();
  outputs.rows = x.rows;
  prepared.executor.Predict(inputs, outputs);
  RunParts(x.rows * out.cols < kAnswersForTwoThreads ? 1 : threads, x.rows,
           [&](int64_t begin, int64_t end) { Answer(outputs.Rows(begin, end - begin), out.Rows(begin, end - begin)); });
  return -1;
}

void BatchPredictor::Predict(const SparseRows& x, MatrixView out) {
  RequireShapes(x.rows(), x.cols(), network_, out);
  if (x.dtype() != network_.dtype()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("sparse rows are of {}, the network is of {}",
                                                         DTypeName(x.dtype()), DTypeName(network_.dtype())));
  }
  const std::lock_guard lock(mutex_);
  if (single_ == nullptr) {
    single_ = std::make_unique<Predictor>(network_);
  }
  for (int64_t first = 0; first < x.rows(); first += kBatch) {
    StopPoint();
    RunParts(backend_.threads(), std::min(kBatch, x.rows() - first), [&](int64_t begin, int64_t end) {
      Matrix row(1, x.cols(), x.dtype());
      Matrix raw(1, network_.outputs(), x.dtype());
      PredictorScratch scratch = single_->MakeScratch();
      for (int64_t i = first + begin; i < first + end; ++i) {
        i == first + begin ? x.Fill(i, row.data()) : x.Replace(i - 1, i, row.data());
        single_->Predict(row.data(), raw.data(), scratch);
        Answer(raw.view(), out.Rows(i, 1));
      }
    });
  }
}

// `out` = the last activation of `raw`, in the caller's units.
void BatchPredictor::Answer(ConstMatrixView raw, MatrixView out) const {
  const bool unscale = !scalings_.output_offsets.empty();
  std::vector<double> row(static_cast<size_t>(out.cols));
  DispatchFloat(raw.dtype, [&]<class From>(From) {
    DispatchFloat(out.dtype, [&]<class To>(To) {
      for (int64_t i = 0; i < out.rows; ++i) {
        std::copy_n(raw.Row<From>(i), out.cols, row.begin());
        last_.Value(row.data(), row.data(), out.cols);
        To* to = out.Row<To>(i);
        for (size_t j = 0; j < row.size(); ++j) {
          to[j] = static_cast<To>(unscale ? row[j] * scalings_.output_scales[j] + scalings_.output_offsets[j] : row[j]);
        }
      }
    });
  });
}

}  // namespace lamina::python
