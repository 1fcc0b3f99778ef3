// The kernels of backend cuda for products of layers, each once: names in flags, plans and help are these.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lamina {

/// How a product is computed: a place in kProductKernels.
enum class ProductKernel : uint8_t {
  kLarge,        // 128 results a side in registers (gradients of distances: 128 x 64)
  kMedium,       // 128 x 64, of sums of f32 terms without an own number; elsewhere kSmall
  kSmall,        // 64 a side
  kPaper2017,    // one thread a result, operands from global memory (2017 paper): a baseline
  kPaper2016,    // one thread a result, 32 x 32 tiles in shared memory (2016 paper): a baseline
  kTensor,       // 128 a side on the tensor cores: dot products of halves and of rounded f32
  kTensorSmall,  // 64 a side
  kWgmma,        // 128 x 256 of the same by groups of warps: compute capability 9.0
  kWgmmaSmall,   // 128 a side
  // Variants of halves, forward. Where a pass has no such kernel, it is that of the base.
  kWgmmaPingPong,  // 384 threads: a group of warps fetches, two multiply in turn, as the results of the other one leave
  kWgmmaPingPongPair,  // the same in clusters of two blocks, which share the columns that they fetch
};

enum class ProductFamily : uint8_t { kTiles, kPapers, kTensor, kGroups };

struct ProductKernelRow {
  std::string_view name;
  ProductFamily family;
  ProductKernel base;  // itself, if it is no variant
};

inline constexpr std::array<ProductKernelRow, 11> kProductKernels{{
    {"large", ProductFamily::kTiles, ProductKernel::kLarge},
    {"medium", ProductFamily::kTiles, ProductKernel::kMedium},
    {"small", ProductFamily::kTiles, ProductKernel::kSmall},
    {"paper-2017", ProductFamily::kPapers, ProductKernel::kPaper2017},
    {"paper-2016", ProductFamily::kPapers, ProductKernel::kPaper2016},
    {"tensor", ProductFamily::kTensor, ProductKernel::kTensor},
    {"tensor-small", ProductFamily::kTensor, ProductKernel::kTensorSmall},
    {"wgmma", ProductFamily::kGroups, ProductKernel::kWgmma},
    {"wgmma-small", ProductFamily::kGroups, ProductKernel::kWgmmaSmall},
    {"wgmma-pingpong", ProductFamily::kGroups, ProductKernel::kWgmmaSmall},
    {"wgmma-pingpong-c2", ProductFamily::kGroups, ProductKernel::kWgmmaSmall},
}};

constexpr const ProductKernelRow& RowOf(ProductKernel kernel) { return kProductKernels[static_cast<size_t>(kernel)]; }
constexpr ProductKernel BaseOf(ProductKernel kernel) { return RowOf(kernel).base; }
constexpr bool IsVariant(ProductKernel kernel) { return BaseOf(kernel) != kernel; }
constexpr bool IsWgmma(ProductKernel kernel) { return RowOf(kernel).family == ProductFamily::kGroups; }
/// On the tensor cores, by warps or by groups of them.
constexpr bool IsTensor(ProductKernel kernel) {
  return RowOf(kernel).family == ProductFamily::kTensor || IsWgmma(kernel);
}
constexpr bool IsBaseline(ProductKernel kernel) { return RowOf(kernel).family == ProductFamily::kPapers; }

/// The kernel of that name, if there is one.
constexpr std::optional<ProductKernel> FindKernel(std::string_view name) {
  for (size_t i = 0; i < kProductKernels.size(); ++i) {
    if (kProductKernels[i].name == name) {
      return static_cast<ProductKernel>(i);
    }
  }
  return std::nullopt;
}

}  // namespace lamina
