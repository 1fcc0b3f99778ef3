// Networks of several members: a batch is computed once for each of them, the rows of one together.
#include <algorithm>
#include <cstring>

#include "lamina/nn/executor.h"

namespace lamina {

void Executor::PrepareMembers() {
  const int64_t element = DTypeSize_bytes(dtype_);
  const auto rows_of = [&](int64_t rows, int64_t cols) { return backend_.Allocate(rows * cols * element); };
  const int64_t all_rows = options_.max_batch * members_;
  const int64_t outputs = specs_.back().outputs;
  member_input_ = rows_of(all_rows, specs_.front().inputs);
  mean_ = rows_of(options_.max_batch, outputs);
  if (options_.training) {
    member_input_delta_ = rows_of(all_rows, specs_.front().inputs);
    member_targets_ = rows_of(all_rows, outputs);
    member_weights_ = rows_of(all_rows, 1);
  }
}

ConstMatrixView Executor::ExpandInputs(ConstMatrixView x) noexcept {
  const MatrixView all = View(member_input_, members_ * x.rows, x.cols);
  DispatchFloat(dtype_, [&]<class T>(T) {
    const T* scale = static_cast<const T*>(parameters_->data()) + member_offset_;
    for (int64_t member = 0; member < members_; ++member, scale += x.cols) {
      for (int64_t i = 0; i < x.rows; ++i) {
        const T* from = x.Row<T>(i);
        T* to = all.Row<T>(member * x.rows + i);
        for (int64_t c = 0; c < x.cols; ++c) {
          to[c] = from[c] * scale[c];
        }
      }
    }
  });
  return all;
}

ConstMatrixView Executor::MeanOfMembers(int64_t rows) noexcept {
  const int64_t outputs = specs_.back().outputs;
  const MatrixView mean = View(mean_, rows, outputs);
  DispatchFloat(dtype_, [&]<class T>(T) {
    const int64_t count = rows * outputs;
    const T* from = static_cast<const T*>(layers_.back().a->data());
    T* to = static_cast<T*>(mean.data);
    std::fill_n(to, count, T(0));
    for (int64_t member = 0; member < members_; ++member, from += count) {
      for (int64_t n = 0; n < count; ++n) {
        to[n] += from[n];
      }
    }
    for (int64_t n = 0; n < count; ++n) {
      to[n] /= static_cast<T>(members_);
    }
  });
  return mean;
}

// The mean of the members' losses is that of all their rows.
LossArgs Executor::MemberLossArgs(ConstMatrixView targets, const void* sample_weights) noexcept {
  const int64_t element = DTypeSize_bytes(dtype_);
  const int64_t rows = members_ * targets.rows;
  const MatrixView all = View(member_targets_, rows, targets.cols);
  auto* weights = static_cast<char*>(member_weights_->data());
  for (int64_t member = 0; member < members_; ++member) {
    for (int64_t i = 0; i < targets.rows; ++i) {
      std::memcpy(all.Rows(member * targets.rows + i, 1).data, targets.Rows(i, 1).data,
                  static_cast<size_t>(targets.cols * element));
    }
    if (sample_weights != nullptr) {
      std::memcpy(weights + member * targets.rows * element, sample_weights,
                  static_cast<size_t>(targets.rows * element));
    }
  }
  LossArgs args;
  args.loss = options_.step.loss;
  args.activation = &layers_.back().activation;
  args.a = View(layers_.back().a, rows, targets.cols);
  args.z = View(layers_.back().z, rows, targets.cols);
  args.targets = all;
  args.sample_weights = sample_weights == nullptr ? nullptr : weights;
  args.class_threshold = options_.step.class_threshold;
  args.sums = &member_sums_;
  return args;
}

// Of the factors: inputs times the gradient of their product.
void Executor::MemberScaleGradient(ConstMatrixView x) noexcept {
  if (IsFrozen(0)) {
    return;
  }
  const MatrixView delta = View(member_input_delta_, members_ * x.rows, x.cols);
  DispatchFloat(dtype_, [&]<class T>(T) {
    T* gradient = static_cast<T*>(gradients_->data()) + member_offset_;
    std::fill_n(gradient, members_ * x.cols, T(0));
    for (int64_t member = 0; member < members_; ++member, gradient += x.cols) {
      for (int64_t i = 0; i < x.rows; ++i) {
        const T* value = x.Row<T>(i);
        const T* slope = delta.Row<T>(member * x.rows + i);
        for (int64_t c = 0; c < x.cols; ++c) {
          gradient[c] += value[c] * slope[c];
        }
      }
    }
  });
}

}  // namespace lamina
