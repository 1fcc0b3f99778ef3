// Launches of the smaller operations.
#include "lamina/backend/cuda/whole_batch.h"

#include <algorithm>

#include "lamina/backend/cuda/whole_batch.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int kThreads = 256;

dim3 Grid(int64_t threads) {
  return dim3{static_cast<unsigned>(std::clamp<int64_t>((threads + kThreads - 1) / kThreads, 0, 4096)), 1, 1};
}

// Rows of words as wide as addresses and lengths allow.
template <class W>
void GatherAs(Device& device, const ConstMatrixView& from, const int64_t* rows, int64_t count, const MatrixView& to) {
  const int64_t per_word = static_cast<int64_t>(sizeof(W)) / DTypeSize_bytes(from.dtype);
  const int64_t words = from.cols / per_word;
  device.Launch("gather rows", &GatherRowsKernel<W>, Grid(count * words), kThreads, 0, static_cast<const W*>(from.data),
                from.stride / per_word, rows, device.live(), count, words, static_cast<W*>(to.data),
                to.stride / per_word);
}

struct alignas(16) Word16 {
  uint64_t parts[2];
};

}  // namespace

void LaunchGatherRows(Device& device, const ConstMatrixView& from, const int64_t* rows, int64_t count,
                      const MatrixView& to) {
  const int64_t element = DTypeSize_bytes(from.dtype);
  const uint64_t all = reinterpret_cast<uintptr_t>(from.data) | reinterpret_cast<uintptr_t>(to.data) |
                       static_cast<uint64_t>((from.cols | from.stride | to.stride) * element);
  if (all % 16 == 0) {
    GatherAs<Word16>(device, from, rows, count, to);
  } else if (all % 8 == 0) {
    GatherAs<uint64_t>(device, from, rows, count, to);
  } else if (all % 4 == 0) {
    GatherAs<uint32_t>(device, from, rows, count, to);
  } else if (all % 2 == 0) {
    GatherAs<uint16_t>(device, from, rows, count, to);
  } else {
    GatherAs<uint8_t>(device, from, rows, count, to);
  }
}

void LaunchLoss(Device& device, const LossArgs& args) {
  DispatchFloat(args.a.dtype, [&]<class T>(T) {
    DeviceLoss<T> loss{RowsOf<T>(args.a),
                       RowsOf<T>(args.z),
                       RowsOf<T>(args.targets),
                       RowsOf<T>(args.delta),
                       static_cast<const T*>(args.sample_weights),
                       args.a.rows,
                       args.a.cols};
    loss.softmax = args.activation->is_softmax();
    const Activation::DeviceLoops* custom = args.activation->device_loops();
    loss.multiply_slope = args.loss.by_output() && custom == nullptr;
    loss.activation = ToDevice(*args.activation);
    loss.class_threshold = args.class_threshold;
    const Loss::Smoothed smoothed = args.loss.Smooth(args.label_smoothing, args.a.cols);
    loss.keep = static_cast<T>(smoothed.keep);
    loss.even = static_cast<T>(smoothed.even);
    loss.sums = args.sums;
    const int64_t together = args.a.cols <= kWarp ? kLossThreads : kLossThreads / kWarp;  // rows of a block
    const auto blocks = std::clamp<int64_t>((args.a.rows + together - 1) / together, 1, kMostLossBlocks);
    LossSums* const parts = blocks > 1 ? static_cast<LossSums*>(device.scratch()) : nullptr;
    args.loss.Visit([&]<class L>(const L& formula) {
      device.Launch("loss", &LossKernel<L, T>, dim3{static_cast<unsigned>(blocks), 1, 1}, kLossThreads,
                    static_cast<int64_t>(sizeof(LossSums)) * (kLossThreads / kWarp), loss, formula, parts);
    });
    if (parts != nullptr) {
      device.Launch("sum of losses", &AddLossKernel, dim3{1, 1, 1}, 1, 0, parts, static_cast<int>(blocks), args.sums);
    }
    if (args.loss.by_output() && custom != nullptr && !args.delta.empty()) {
      custom->slope(*args.activation, &device, args.z, args.a, args.delta);
    }
  });
}

void LaunchClip(Device& device, const ClipArgs& args) {
  DispatchFloat(args.dtype, [&]<class T>(T) {
    T* const gradient = static_cast<T*>(args.gradient);
    const auto blocks = std::clamp<int64_t>((args.count + kThreads - 1) / kThreads, 1, ClipArgs::kParts);
    device.Launch("squares of the gradient", &SquaresKernel<T>, dim3{static_cast<unsigned>(blocks), 1, 1}, kThreads,
                  static_cast<int64_t>(sizeof(double)) * (kThreads / kWarp), gradient, args.count, args.parts);
    device.Launch("clip gradient", &ClipKernel<T>, Grid(args.count), kThreads, 0, gradient, args.count,
                  static_cast<const double*>(args.parts), blocks, args.norm);
  });
}

void LaunchUpdate(Device& device, const UpdateArgs& args) {
  DispatchFloat(args.dtype, [&]<class T>(T) {
    device.Launch("update", &UpdateKernel<T>, Grid(args.count), kThreads, 0,
                  ToDevice<T>(device, args.arrays, args.count, args.rule, args.decay), args.count,
                  static_cast<T>(args.smallest));
  });
}

void LaunchScaleDelta(Device& device, Synapse synapse, const ConstMatrixView& delta, const ConstMatrixView& distance,
                      void* out) {
  DispatchFloat(delta.dtype, [&]<class T>(T) {
    VisitSynapse(synapse, [&]<class F>(F) {
      device.Launch("scale delta", &ScaleDeltaKernel<F, T>, Grid(delta.rows * delta.cols), kThreads, 0,
                    RowsOf<T>(delta), RowsOf<T>(distance), delta.rows, delta.cols, static_cast<T*>(out));
    });
  });
}

void LaunchColumnSums(Device& device, const ConstMatrixView& delta, const ParameterArrays& bias,
                      const UpdateRule* rule) {
  DispatchFloat(delta.dtype, [&]<class T>(T) {
    const auto epilogue = ToDevice<T>(device, bias, delta.cols, rule, /*decay=*/false);
    device.Launch("bias gradient", &ColumnSumsKernel<T, ParameterEpilogue<T>>, Grid(delta.cols * kWarp), kThreads, 0,
                  RowsOf<T>(delta), delta.rows, delta.cols, epilogue);
  });
}

void LaunchAdvance(Device& device, LiveStep* live, int64_t batch) {
  device.Launch("next step", &AdvanceKernel, dim3{1, 1, 1}, 1, 0, live, batch);
}

void LaunchSoftmax(Device& device, const MatrixView& a) {
  DispatchFloat(a.dtype, [&]<class T>(T) {
    device.Launch("softmax", &SoftmaxKernel<T>, Grid(a.rows * kWarp), kThreads, 0, RowsOf<T>(a), a.rows, a.cols);
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
