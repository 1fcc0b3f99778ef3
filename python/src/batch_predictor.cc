// Batches through an executor that promises the same bits for every slicing. Few rows go to one of their own, whose
// kernels are planned for them and which wakes no threads.
#include "python/src/batch_predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <utility>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/team.h"

namespace lamina::python {
namespace {

constexpr int64_t kNumbersForTwoThreads = 1 << 16;

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
    : network_(network), scalings_(std::move(scalings)), backend_(backend), one_row_(one_row) {
  few_ = std::make_unique<Prepared>(network_, one_row_, kFewRows);
}

int64_t BatchPredictor::Predict(ConstMatrixView x, MatrixView out) {
  if (x.cols != network_.inputs() || out.rows != x.rows || out.cols != network_.outputs()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x is {} x {} and out {} x {}; the network has {} inputs and {} outputs", x.rows, x.cols,
                            out.rows, out.cols, network_.inputs(), network_.outputs()));
  }
  const std::lock_guard lock(mutex_);
  if (x.rows <= kFewRows) {
    return PredictBatch(*few_, x, out);
  }
  if (many_ == nullptr) {
    many_ = std::make_unique<Prepared>(network_, backend_, kBatch);
  }
  for (int64_t begin = 0; begin < x.rows; begin += kBatch) {
    const int64_t rows = std::min(kBatch, x.rows - begin);
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
  const bool unscale = !scalings_.output_offsets.empty();
  DispatchFloat(outputs.dtype, [&]<class From>(From) {
    DispatchFloat(out.dtype, [&]<class To>(To) {
      for (int64_t i = 0; i < out.rows; ++i) {
        const From* from = outputs.Row<From>(i);
        To* to = out.Row<To>(i);
        for (int64_t j = 0; j < out.cols; ++j) {
          const auto k = static_cast<size_t>(j);
          to[j] = unscale ? static_cast<To>(static_cast<double>(from[j]) * scalings_.output_scales[k] +
                                            scalings_.output_offsets[k])
                          : static_cast<To>(from[j]);
        }
      }
    });
  });
  return -1;
}

}  // namespace lamina::python
