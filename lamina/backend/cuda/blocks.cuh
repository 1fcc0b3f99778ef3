// The launch of a kernel over the tiles of a product, without what adds up the parts of a split sum.
#pragma once

#include <cstdint>

#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/slab.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

LAMINA_HD constexpr int64_t CeilOf(int64_t a, int64_t b) { return (a + b - 1) / b; }

template <class E, class S>
int64_t PartsOf(const ProductArgs<E, S>& args) {
  return args.partial == nullptr ? 1 : CeilOf(args.depth, args.depth_per_split);
}

template <class Shape, class Kernel, class E, class S, class Epilogue>
void LaunchBlocks(Device& device, const char* name, const Kernel& kernel, int64_t shared_bytes,
                  const ProductArgs<E, S>& args, const Epilogue& epilogue) {
  const int64_t tiles = CeilOf(args.rows, Shape::kRows) * CeilOf(args.cols, Shape::kCols);
  device.Launch(name, kernel, dim3{static_cast<unsigned>(tiles), static_cast<unsigned>(PartsOf(args)), 1},
                kBlockThreads, shared_bytes, args, epilogue);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
