// Kernels of distances in the registers of the tile that computes the distances.
#include "lamina/backend/cuda/kernel_blocks.h"

#include "lamina/backend/cuda/on_device.h"
#include "lamina/backend/cuda/product.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

using Shape = SmallShape;

/// A shape as threads take it; the processor's kernels round alike (symmetric_kernels-inl.h).
struct KernelNumbers {
  explicit KernelNumbers(const KernelShape& shape) : p(shape.p), power(shape.power), per_scale(1 / shape.scale) {}

  __device__ double Distance(double sum) const { return p == 1 ? sum : sqrt(sum); }
  /// (d / scale)^power.
  __device__ double Power(double distance) const {
    const double share = distance * per_scale;
    return power == 1 ? share : exp(power * log(share > kLeastShare ? share : kLeastShare));
  }

  static constexpr double kLeastShare = 1e-300;
  int p;
  double power;
  double per_scale;
};

struct KernelEpilogue {
  KernelNumbers numbers;
  const double* diagonal;
  Rows<double> out;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    body([&](int64_t row, int64_t col, int, const double(&sums)[1]) {
      out.At(row, col) = row == col ? diagonal[row] : exp(-numbers.Power(numbers.Distance(sums[0])));
    });
  }
};

struct SlopeWeightEpilogue {
  KernelNumbers numbers;
  const double* alpha;
  const double* roots;
  Rows<double> out;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    body([&](int64_t row, int64_t col, int, const double(&sums)[1]) {
      constexpr double kLeastDistance = 1e-9;
      const double distance = numbers.Distance(sums[0]);
      const double power = numbers.Power(distance);
      const double below = numbers.p == 1 ? distance : distance * distance;
      const double weight = distance > kLeastDistance ? power * exp(-power) / below : 0;
      out.At(row, col) = roots[row] * weight * alpha[col];
    });
  }
};

struct AddEpilogue {
  bool add;
  Rows<double> out;

  template <class Body>
  __device__ void Visit(const Body& body) const {
    body([&](int64_t row, int64_t col, int, const double(&sums)[1]) {
      double& to = out.At(row, col);
      to = add ? to + sums[0] : sums[0];
    });
  }
};

/// The tiles of a square that have something of its lower triangle.
template <class TileType, class Epilogue>
__global__ void __launch_bounds__(kBlockThreads, TileType::kResident)
    LowerTileKernel(ProductArgs<double, double> args, Epilogue epilogue) {
  const int64_t tile_cols = CeilOf(args.cols, Shape::kCols);
  if (blockIdx.x % tile_cols * Shape::kCols >= (blockIdx.x / tile_cols + 1) * Shape::kRows) {
    return;
  }
  TileType tile(args, &SharedAs<double>());
  tile.Compute();
  tile.Store(epilogue);
}

__global__ void DiagonalKernel(const double* matrix, int64_t stride, int64_t count, double* out) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    out[i] = matrix[i * stride + i];
  }
}

ProductArgs<double, double> Against(const BlockRows& blocks) {
  return ProductOf<double>(blocks.rows, blocks.count, blocks.rows, blocks.count, blocks.columns);
}

// fn.operator()<Term>() of the sum that distances |.|_p are made of.
template <class Fn>
void VisitDistance(int p, const Fn& fn) {
  p == 1 ? fn.template operator()<formulas::AbsoluteDifferenceTerm>()
         : fn.template operator()<formulas::SquaredDifferenceTerm>();
}

template <class Term>
using DistanceTile = Tile<TermOp<Term>, double, double, Shape, Contiguous::kSum, Contiguous::kSum>;

}  // namespace

void LaunchKernelBlocks(Device& device, const BlockRows& blocks, const KernelShape& shape, const double* diagonal) {
  const KernelEpilogue epilogue{KernelNumbers(shape), diagonal, {blocks.out, blocks.out_stride, false}};
  VisitDistance(shape.p, [&]<class Term>() {
    using TileType = DistanceTile<Term>;
    LaunchBlocks<Shape>(device, "kernel blocks", &LowerTileKernel<TileType, KernelEpilogue>, TileType::kShared_bytes,
                        Against(blocks), epilogue);
  });
}

void LaunchSlopeWeights(Device& device, const BlockRows& blocks, const KernelShape& shape, const double* alpha,
                        const double* roots) {
  const SlopeWeightEpilogue epilogue{KernelNumbers(shape), alpha, roots, {blocks.out, blocks.out_stride, false}};
  VisitDistance(shape.p, [&]<class Term>() {
    using TileType = DistanceTile<Term>;
    LaunchBlocks<Shape>(device, "slope weights", &TileKernel<TileType, double, double, SlopeWeightEpilogue>,
                        TileType::kShared_bytes, Against(blocks), epilogue);
  });
}

void LaunchColumnProducts(Device& device, const Operand<double>& rows, int64_t count, int64_t columns, bool add,
                          double* out) {
  using TileType = Tile<TermOp<formulas::ProductTerm>, double, double, Shape, Contiguous::kLines, Contiguous::kLines>;
  LaunchBlocks<Shape>(device, "column products", &TileKernel<TileType, double, double, AddEpilogue>,
                      TileType::kShared_bytes, ProductOf<double>(rows, columns, rows, columns, count),
                      AddEpilogue{add, {out, columns, false}});
}

void LaunchDiagonal(Device& device, const double* matrix, int64_t stride, int64_t count, double* out) {
  device.Launch("diagonal", &DiagonalKernel, dim3{static_cast<unsigned>(CeilOf(count, kBlockThreads)), 1, 1},
                kBlockThreads, 0, matrix, stride, count, out);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
