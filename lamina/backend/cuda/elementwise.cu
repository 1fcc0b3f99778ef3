// Launches of what stages need beside layers.
#include "lamina/backend/cuda/elementwise.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "lamina/backend/cuda/elementwise.cuh"
#include "lamina/backend/cuda/whole_batch.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int kElementThreads = 256;

dim3 GridOfElements(int64_t threads) {
  const int64_t blocks = (threads + kElementThreads - 1) / kElementThreads;
  return dim3{static_cast<unsigned>(std::clamp<int64_t>(blocks, 0, 4096)), 1, 1};
}

std::vector<Jump> MakeJumps() {
  std::vector<Jump> jumps(kJumpPowers);
  for (size_t b = 0; b < kStateBits; ++b) {
    RandomState one{};
    one[b / 64] = uint64_t{1} << (b % 64);
    Random random(one);
    for (int64_t draw = 0; draw < kDraws; ++draw) {
      random.Next();
    }
    jumps[0][b] = random.state();
  }
  for (size_t p = 1; p < kJumpPowers; ++p) {
    for (size_t b = 0; b < kStateBits; ++b) {
      jumps[p][b] = Jumped(jumps[p - 1][b], jumps[p - 1].data());
    }
  }
  return jumps;
}

template <class T>
DeviceNormalization<T> ToDevice(const NormalizationArrays& arrays) {
  return {static_cast<T*>(arrays.gamma), static_cast<T*>(arrays.beta), static_cast<T*>(arrays.mean),
          static_cast<T*>(arrays.variance)};
}

class CudaElementwise final : public Elementwise {
 public:
  explicit CudaElementwise(const std::shared_ptr<Device>& device) : device_(device) {}
  ~CudaElementwise() override { device_->Free(jumps_); }
  CudaElementwise(const CudaElementwise&) = delete;
  CudaElementwise& operator=(const CudaElementwise&) = delete;

  void Fill(MatrixView to, double value) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("fill", &FillKernel<T>, to.rows * to.cols, RowsOf<T>(to), to.rows, to.cols, static_cast<T>(value));
    });
  }
  void Repeat(ConstMatrixView from, int64_t times, MatrixView to) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("repeat", &RepeatKernel<T>, times * from.rows * from.cols, RowsOf<T>(from), from.rows, RowsOf<T>(to),
             times * from.rows, from.cols);
    });
  }
  void Multiply(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("multiply", &MultiplyKernel<T>, to.rows * to.cols, RowsOf<T>(a), RowsOf<T>(b), RowsOf<T>(to), to.rows,
             to.cols);
    });
  }
  void Add(ConstMatrixView a, ConstMatrixView b, MatrixView to) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("add", &AddKernel<T>, to.rows * to.cols, RowsOf<T>(a), RowsOf<T>(b), RowsOf<T>(to), to.rows, to.cols);
    });
  }
  void MultiplySlope(const Activation& activation, ConstMatrixView z, ConstMatrixView a,
                     MatrixView delta) const noexcept override {
    if (const Activation::DeviceLoops* const custom = activation.device_loops(); custom != nullptr) {
      custom->slope(activation, device_.get(), z, a, delta);
      return;
    }
    DispatchFloat(delta.dtype, [&]<class T>(T) {
      Launch("multiply slope", &MultiplySlopeKernel<T>, delta.rows * delta.cols,
             lamina::LAMINA_CUDA_NAMESPACE::ToDevice(activation), RowsOf<T>(z), RowsOf<T>(a), RowsOf<T>(delta),
             delta.rows, delta.cols);
    });
  }
  void ScaleColumns(ConstMatrixView from, const void* scale, MatrixView to) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("scale columns", &ScaleColumnsKernel<T>, from.rows * from.cols, RowsOf<T>(from),
             static_cast<const T*>(scale), RowsOf<T>(to), from.rows, from.cols);
    });
  }
  void ColumnProducts(ConstMatrixView a, ConstMatrixView b, void* sums) const noexcept override {
    DispatchFloat(a.dtype, [&]<class T>(T) {
      Launch("column products", &ColumnProductsKernel<T>, a.cols * kWarp, RowsOf<T>(a), RowsOf<T>(b), a.rows, a.cols,
             static_cast<T*>(sums));
    });
  }
  void MeanOfBlocks(ConstMatrixView from, int64_t blocks, MatrixView to) const noexcept override {
    DispatchFloat(to.dtype, [&]<class T>(T) {
      Launch("mean of blocks", &MeanOfBlocksKernel<T>, to.rows * to.cols, RowsOf<T>(from), blocks, RowsOf<T>(to),
             to.rows, to.cols);
    });
  }
  void MixRows(double share, MatrixView rows) const noexcept override {
    DispatchFloat(rows.dtype, [&]<class T>(T) {
      Launch("mix rows", &MixRowsKernel<T>, rows.cols, RowsOf<T>(rows), rows.rows, rows.cols, static_cast<T>(share),
             static_cast<T>(1 - share));
    });
  }
  void PrepareDropout() const override {
    const std::lock_guard lock(jumps_mutex_);
    if (jumps_ == nullptr) {
      const std::vector<Jump> jumps = MakeJumps();
      const auto bytes = static_cast<int64_t>(jumps.size() * sizeof(Jump));
      jumps_ = static_cast<RandomState*>(device_->Allocate(bytes));
      device_->Upload(jumps_, jumps.data(), bytes);
    }
  }
  void DropoutMask(double dropout, uint64_t seed, uint64_t stream, MatrixView mask) const noexcept override {
    DispatchFloat(mask.dtype, [&]<class T>(T) {
      const int64_t count = mask.rows * mask.cols;
      Launch("dropout mask", &DropoutMaskKernel<T>, (count + 2 * kDraws - 1) / (2 * kDraws),
             Random(seed, stream).state(), jumps_, DroppedBelow(dropout), static_cast<T>(1.0 / (1.0 - dropout)),
             static_cast<T*>(mask.data), count);
    });
  }
  void KeepZeros(ConstMatrixView parameters, MatrixView gradient) const noexcept override {
    DispatchFloat(gradient.dtype, [&]<class T>(T) {
      Launch("keep zeros", &KeepZerosKernel<T>, gradient.rows * gradient.cols, RowsOf<T>(parameters),
             RowsOf<T>(gradient), gradient.rows, gradient.cols);
    });
  }
  void RadiusForward(const RadiusForwardArgs& args) const noexcept override {
    DispatchFloat(args.a.dtype, [&]<class T>(T) {
      Launch("radius forward", &RadiusForwardKernel<T>, args.a.rows * args.a.cols, RowsOf<T>(args.distance),
             static_cast<const T*>(args.radii), lamina::LAMINA_CUDA_NAMESPACE::ToDevice(*args.activation),
             RowsOf<T>(args.u), RowsOf<T>(args.a), args.a.rows, args.a.cols);
    });
    ApplyCustom(*args.activation, args.a);
  }
  void RadiusBackward(const RadiusBackwardArgs& args) const noexcept override {
    DispatchFloat(args.delta.dtype, [&]<class T>(T) {
      Launch("radius backward", &RadiusBackwardKernel<T>, args.delta.cols * kWarp, RowsOf<T>(args.u),
             RowsOf<T>(args.delta), args.delta.rows, args.delta.cols,
             lamina::LAMINA_CUDA_NAMESPACE::ToDevice<T>(*device_, args.radii, args.delta.cols, args.rule,
                                                        /*decay=*/false),
             static_cast<T>(args.smallest_radius));
    });
  }
  void NormalizeForward(const NormalizeForwardArgs& args) const noexcept override {
    DispatchFloat(args.z.dtype, [&]<class T>(T) {
      Launch("normalise", &NormalizeForwardKernel<T>, args.z.cols * kWarp, RowsOf<T>(args.z), ToDevice<T>(args.arrays),
             lamina::LAMINA_CUDA_NAMESPACE::ToDevice(*args.activation), args.share, args.keeps_answers,
             static_cast<T*>(args.inverse), RowsOf<T>(args.y), RowsOf<T>(args.a), args.z.rows, args.z.cols);
    });
    ApplyCustom(*args.activation, args.a);
  }
  void NormalizeBackward(const NormalizeBackwardArgs& args) const noexcept override {
    DispatchFloat(args.delta.dtype, [&]<class T>(T) {
      Launch("normalize back", &NormalizeBackwardKernel<T>, args.delta.cols * kWarp, RowsOf<T>(args.z),
             static_cast<const T*>(args.gamma), static_cast<const T*>(args.inverse), RowsOf<T>(args.delta),
             static_cast<T*>(args.gamma_gradient), static_cast<T*>(args.beta_gradient), args.delta.rows,
             args.delta.cols);
    });
  }
  void FoldNormalization(const NormalizationArrays& arrays, MatrixView weights, void* bias) const noexcept override {
    DispatchFloat(weights.dtype, [&]<class T>(T) {
      Launch("fold normalization", &FoldNormalizationKernel<T>, weights.rows * weights.cols, ToDevice<T>(arrays),
             RowsOf<T>(weights), static_cast<T*>(bias), weights.rows, weights.cols);
    });
  }

 private:
  template <class... P, class... A>
  void Launch(const char* name, void (*kernel)(P...), int64_t threads, const A&... args) const noexcept {
    device_->Launch(name, kernel, GridOfElements(threads), kElementThreads, 0, args...);
  }
  // Custom activations are identities in the kernels above.
  void ApplyCustom(const Activation& activation, const MatrixView& a) const {
    if (const Activation::DeviceLoops* const custom = activation.device_loops(); custom != nullptr) {
      custom->value(activation, device_.get(), a);
    }
  }

  std::shared_ptr<Device> device_;
  mutable std::mutex jumps_mutex_;
  mutable RandomState* jumps_ = nullptr;
};

}  // namespace

std::unique_ptr<Elementwise> MakeCudaElementwise(const std::shared_ptr<Device>& device) {
  return std::make_unique<CudaElementwise>(device);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
