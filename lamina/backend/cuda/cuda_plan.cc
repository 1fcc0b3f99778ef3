// The tile that is estimated to be done first, or what a plan names.
#include "lamina/backend/cuda/cuda_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/base/names.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {

Extent ExtentOf(const LayerSpec& layer, Pass pass, int64_t batch) {
  switch (pass) {
    case Pass::kForward: return {batch, layer.outputs, layer.inputs};
    case Pass::kInputGradient: return {batch, layer.inputs, layer.outputs};
    case Pass::kWeightGradient: break;
  }
  return {layer.outputs, layer.inputs, batch};
}

namespace {

constexpr std::string_view kLibraryName = "cublaslt";
constexpr int64_t kShortestSplit = 256;  // terms: below, adding the parts costs more than the blocks gain
constexpr int kLibraryCandidates = 4;
constexpr int64_t kDepthStep = 64;      // a whole number of slabs for every type
constexpr int64_t kMostSplits = 65535;  // blocks of a launch in its second direction
// A library's product waits for its epilogue, one panel of rows at a time, so that it takes no more memory than this.
constexpr int64_t kPanel_bytes = int64_t{256} << 20;
// A panel's share of the L2 cache, which `tune` tries: on an H200 the launches of more panels cost more.
constexpr int64_t kPanelsOfL2 = 3;
constexpr int64_t kPanelStep = 128;  // rows of a library's tile

int64_t PanelRows(const Extent& extent, DType dtype, int64_t cache_bytes) {
  const int64_t row_bytes = std::max<int64_t>(1, extent.cols * DTypeSize_bytes(OutputType(dtype)));
  const int64_t most = std::max(kPanelStep, cache_bytes / row_bytes / kPanelStep * kPanelStep);
  // Even ones: a short last panel leaves multiprocessors without a tile.
  const int64_t rows = std::max<int64_t>(1, extent.rows);
  const int64_t even = CeilDivide(CeilDivide(rows, CeilDivide(rows, most)), kPanelStep) * kPanelStep;
  return std::min(even, rows);
}

bool NeedsOwn(Synapse synapse, Pass pass) { return pass != Pass::kForward && IsDistance(synapse); }

// Terms in each of `splits` parts of a sum: a whole number of slabs, and no more parts than a launch can have.
int64_t DepthOf(const Extent& extent, int64_t splits) {
  const int64_t parts = std::clamp<int64_t>(splits, 1, kMostSplits);
  return std::max<int64_t>(1, CeilDivide(CeilDivide(extent.depth, parts), kDepthStep) * kDepthStep);
}

int64_t Blocks(const TileSides& sides, const Extent& extent) {
  return CeilDivide(extent.rows, sides.rows) * CeilDivide(extent.cols, sides.cols);
}

// The time of a result, by that of another kernel of the list: as seen on an H200 (bench/results/2026-11-28-h200).
struct CostedKernel {
  ProductKernel kernel;
  double cost;
};
constexpr CostedKernel kTiles[] = {
    {ProductKernel::kLarge, 1.0}, {ProductKernel::kMedium, 1.14}, {ProductKernel::kSmall, 1.27}};
constexpr CostedKernel kDistanceTiles[] = {  // two instructions a synapse: that more warps wait for each other counts
    {ProductKernel::kLarge, 1.01},
    {ProductKernel::kMedium, 1.0},
    {ProductKernel::kSmall, 1.07}};
constexpr CostedKernel kTensorTiles[] = {{ProductKernel::kTensor, 1.0}, {ProductKernel::kTensorSmall, 1.6}};
constexpr CostedKernel kWgmmaTiles[] = {
    {ProductKernel::kWgmma, 1.1}, {ProductKernel::kWgmmaSmall, 1.0}, {ProductKernel::kTensorSmall, 2.2}};
constexpr CostedKernel kHalvesTiles[] = {{ProductKernel::kWgmma, 1.14},
                                         {ProductKernel::kWgmmaSmall, 1.0},
                                         {ProductKernel::kWgmmaPingPong, 0.92},
                                         {ProductKernel::kWgmmaPingPongPair, 0.94},
                                         {ProductKernel::kTensorSmall, 2.0}};

// Whether the variant has a kernel of its own for a problem: what copies its operands does not round them.
bool HasVariant(const Problem& problem) { return problem.pass == Pass::kForward && problem.dtype != DType::kF32; }

// Those that a device chooses between. `tensor`: on the tensor cores, there by groups of warps if `wgmma`.
std::span<const CostedKernel> TilesFor(const Problem& problem, bool tensor, bool wgmma) {
  using List = std::span<const CostedKernel>;
  if (tensor && wgmma) {
    return HasVariant(problem) ? List(kHalvesTiles) : List(kWgmmaTiles);
  }
  const bool distance = IsDistance(problem.layer.synapse) && problem.pass == Pass::kForward;
  return tensor ? List(kTensorTiles) : distance && problem.dtype == DType::kF32 ? List(kDistanceTiles) : List(kTiles);
}

// Parts of a sum where there are too few blocks for all multiprocessors.
int64_t SplitsOf(const TileSides& sides, const Extent& extent, bool may_split, int64_t multiprocessors) {
  const int64_t blocks = std::max<int64_t>(1, Blocks(sides, extent));
  const int64_t wanted = may_split ? std::max<int64_t>(1, 2 * multiprocessors / blocks) : 1;
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, extent.depth / kShortestSplit));
}

// The tile that is done first if every multiprocessor computes one block after the other. Sums are split where even
// that leaves a multiprocessor without a block.
Choice Estimate(std::span<const CostedKernel> kernels, const Problem& problem, bool may_split, int multiprocessors) {
  const Extent extent = ExtentOf(problem.layer, problem.pass, problem.batch);
  const bool own = NeedsOwn(problem.layer.synapse, problem.pass);
  const int64_t all = std::max(1, multiprocessors);
  Choice choice;
  double least = std::numeric_limits<double>::max();
  for (const auto& [kernel, cost] : kernels) {
    const TileSides sides = SidesOf(kernel, problem.dtype, own);
    const int64_t depth = DepthOf(extent, SplitsOf(sides, extent, may_split, all));
    const int64_t splits = CeilDivide(std::max<int64_t>(1, extent.depth), depth);
    const double time =
        static_cast<double>(CeilDivide(Blocks(sides, extent) * splits, all) * sides.rows * sides.cols * depth) * cost;
    if (time < least) {
      least = time;
      choice.kernel = kernel;
      choice.depth_per_split = depth;
    }
  }
  return choice;
}

ProductKernel KernelNamed(std::string_view name) {
  if (const auto kernel = FindKernel(name)) {
    return *kernel;
  }
  std::vector<std::string> known{"auto", "cublaslt"};
  for (const ProductKernelRow& row : kProductKernels) {
    known.emplace_back(row.name);
  }
  ThrowUnknownName(name, known, "backend cuda has no such kernel");
}

}  // namespace

Verdict TensorSupports(const Problem& problem) {
  const Synapse synapse = problem.layer.synapse;
  const bool squares = synapse == Synapse::kL2 || synapse == Synapse::kL2Squared;
  if (synapse != Synapse::kDot && !(squares && problem.pass == Pass::kForward)) {
    return Verdict::No("the tensor cores compute dot products and, forward, l2 distances");
  }
  if (squares && problem.precision != Precision::kFast) {
    return Verdict::No("l2 distances on the tensor cores lose digits of their sums: precision fast");
  }
  if (problem.dtype != DType::kF32 && problem.dtype != DType::kF16 && problem.dtype != DType::kBF16) {
    return Verdict::No(
        fmt::format("products on the tensor cores are of f32, f16 and bf16, not of {}", DTypeName(problem.dtype)));
  }
  if (problem.dtype == DType::kF32 && !LosesDigits(problem.precision)) {
    return Verdict::No("products of f32 on the tensor cores round their operands: precision fast or bf16");
  }
  return Verdict::Yes();
}

Verdict WgmmaAvailable(const Device& device) {
#if defined(LAMINA_HAVE_WGMMA)
  const DeviceFacts& facts = device.facts();
  return facts.compute_major == 9 && facts.compute_minor == 0
             ? Verdict::Yes()
             : Verdict::No(fmt::format("products by groups of warps are for compute capability 9.0, this GPU has {}.{}",
                                       facts.compute_major, facts.compute_minor));
#else
  static_cast<void>(device);
  return Verdict::No("this build has no products by groups of warps: 90a is not among its CUDA architectures");
#endif
}

Choice Choose(const Problem& problem, bool any_slicing, const Device& device, const BackendOptions& options) {
  const bool may_split = !any_slicing;
  const Extent extent = ExtentOf(problem.layer, problem.pass, problem.batch);
  const Plan plan = options.plans == nullptr ? Plan() : options.plans->PlanFor(problem);
  const std::string kernel = options.kernel == "auto" ? plan.kernel : options.kernel;
  const bool is_open = kernel.empty() || kernel == "auto";
  const bool names_library = kernel.starts_with(kLibraryName);
  // Asked only where it would be taken, as that opens it.
  const Verdict library = is_open || names_library ? LtSupports(problem) : Verdict::No("another kernel is named");
  if (names_library && !library && options.kernel != "auto" && problem.layer.synapse == Synapse::kDot) {
    throw Error(ErrorCode::kUnsupported, "kernel cublaslt is not available: " + library.reason);
  }
  if (library && may_split) {
    Choice choice;
    choice.library = true;
    choice.algorithm = names_library && kernel.size() > kLibraryName.size()
                           ? std::atoi(kernel.c_str() + kLibraryName.size() + 1)  // "cublaslt:2"
                           : 0;
    choice.panel_rows = PanelRows(extent, problem.dtype, plan.cache_bytes > 0 ? plan.cache_bytes : kPanel_bytes);
    return choice;
  }
  const bool is_named = !is_open && !names_library;
  ProductKernel named = is_named ? KernelNamed(kernel) : ProductKernel();
  const bool wgmma = static_cast<bool>(WgmmaAvailable(device));
  if (is_named && IsWgmma(named) && !wgmma) {  // in a profile, or in another pass than the one that was asked for
    named = BaseOf(named) == ProductKernel::kWgmma ? ProductKernel::kTensor : ProductKernel::kTensorSmall;
  }
  const bool must_round = problem.precision == Precision::kBFloat16;
  const bool tensor = TensorSupports(problem) && (!is_named || IsTensor(named) || must_round);
  std::span<const CostedKernel> tiles = TilesFor(problem, tensor, wgmma);
  const CostedKernel only[] = {{named, 1.0}};
  if (is_named && IsTensor(named) == tensor) {
    tiles = only;
  }
  Choice choice = Estimate(tiles, problem, may_split, device.facts().multiprocessors);
  if (plan.depth > 0 && may_split) {  // of a profile, which may be of another problem
    choice.depth_per_split = DepthOf(extent, CeilDivide(extent.depth, plan.depth));
  }
  if (!HasVariant(problem)) {
    choice.kernel = BaseOf(choice.kernel);
  }
  if (IsBaseline(choice.kernel)) {
    choice.depth_per_split = std::max<int64_t>(1, extent.depth);
  }
  return choice;
}

std::vector<Plan> CudaCandidates(const Problem& problem, const Device& device) {
  const int64_t depth = ExtentOf(problem.layer, problem.pass, problem.batch).depth;
  std::vector<Plan> plans;
  if (LtSupports(problem)) {
    for (int algorithm = 0; algorithm < kLibraryCandidates; ++algorithm) {
      plans.push_back({.kernel = fmt::format("{}:{}", kLibraryName, algorithm)});
    }
    const Extent extent = ExtentOf(problem.layer, problem.pass, problem.batch);
    const int64_t share_bytes = device.facts().l2_bytes / kPanelsOfL2;
    if (PanelRows(extent, problem.dtype, share_bytes) < extent.rows) {
      plans.push_back({.kernel = std::string(kLibraryName), .cache_bytes = share_bytes});
    }
  }
  const auto add = [&](std::span<const CostedKernel> kernels) {
    const Choice estimate = Estimate(kernels, problem, true, device.facts().multiprocessors);
    for (const auto& [kernel, cost] : kernels) {
      for (const int64_t splits : {estimate.Splits(depth), int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}}) {
        const int64_t part = CeilDivide(CeilDivide(std::max<int64_t>(1, depth), splits), kDepthStep) * kDepthStep;
        const Plan plan{.kernel = std::string(RowOf(kernel).name), .depth = part};
        if (std::find(plans.begin(), plans.end(), plan) == plans.end()) {
          plans.push_back(plan);
        }
      }
    }
  };
  if (TensorSupports(problem)) {
    if (WgmmaAvailable(device)) {
      add(TilesFor(problem, true, true));
    }
    add(TilesFor(problem, true, false));
  }
  if (problem.precision != Precision::kBFloat16) {  // the others do not round
    add(TilesFor(problem, false, false));
  }
  return plans;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
