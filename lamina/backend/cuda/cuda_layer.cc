// Chooses tiles and splits when the layer is prepared, then only launches.
#include "lamina/backend/cuda/cuda_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/whole_batch.h"
#include "lamina/base/convert.h"
#include "lamina/base/names.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr std::string_view kLibraryName = "cublaslt";
constexpr int64_t kShortestSplit = 256;  // terms: below, adding the parts costs more than the blocks gain
constexpr int kLibraryCandidates = 4;
constexpr int64_t kDepthStep = 64;      // a whole number of slabs for every type
constexpr int64_t kMostSplits = 65535;  // blocks of a launch in its second direction

// What a pass is as a product.
struct Extent {
  int64_t rows, cols, depth;
};

Extent ExtentOf(const LayerSpec& layer, Pass pass, int64_t batch) {
  switch (pass) {
    case Pass::kForward: return {batch, layer.outputs, layer.inputs};
    case Pass::kInputGradient: return {batch, layer.inputs, layer.outputs};
    case Pass::kWeightGradient: break;
  }
  return {layer.outputs, layer.inputs, batch};
}

// How one pass is computed.
struct Choice {
  ProductKernel kernel = ProductKernel::kSmall;
  bool library = false;  // cuBLASLt ...
  int algorithm = 0;     // ... and which of its algorithms
  int64_t depth_per_split = 0;

  int64_t Splits(int64_t depth) const { return library ? 1 : CeilDivide(depth, depth_per_split); }
};

bool NeedsOwn(Synapse synapse, Pass pass) { return pass != Pass::kForward && IsDistance(synapse); }

// Of each of `splits` parts of a sum: a whole number of slabs, and no more parts than a launch can have.
int64_t DepthOf(const Extent& extent, int64_t splits) {
  const int64_t parts = std::clamp<int64_t>(splits, 1, kMostSplits);
  return std::max<int64_t>(1, CeilDivide(CeilDivide(extent.depth, parts), kDepthStep) * kDepthStep);
}

int64_t Blocks(const TileSides& sides, const Extent& extent) {
  return CeilDivide(extent.rows, sides.rows) * CeilDivide(extent.cols, sides.cols);
}

constexpr ProductKernel kTiles[] = {ProductKernel::kLarge, ProductKernel::kMedium, ProductKernel::kSmall};

// Instructions for a result beside those that compute it, as a factor: a smaller tile loads each operand more often.
double CostOf(ProductKernel kernel) {
  return kernel == ProductKernel::kLarge ? 1.0 : kernel == ProductKernel::kMedium ? 1.05 : 1.15;
}

// The tile that is done first where every multiprocessor computes one block after the other; a split sum where even
// that leaves some without a block.
Choice Estimate(const Problem& problem, bool may_split, int multiprocessors) {
  const Extent extent = ExtentOf(problem.layer, problem.pass, problem.batch);
  const bool own = NeedsOwn(problem.layer.synapse, problem.pass);
  const int64_t all = std::max(1, multiprocessors);
  Choice choice;
  double least = std::numeric_limits<double>::max();
  for (const ProductKernel kernel : kTiles) {
    const TileSides sides = SidesOf(kernel, problem.dtype, own);
    const double time =
        static_cast<double>(CeilDivide(Blocks(sides, extent), all) * sides.rows * sides.cols) * CostOf(kernel);
    if (time < least) {
      least = time;
      choice.kernel = kernel;
    }
  }
  const int64_t blocks = std::max<int64_t>(1, Blocks(SidesOf(choice.kernel, problem.dtype, own), extent));
  const int64_t wanted = may_split ? std::max<int64_t>(1, 2 * all / blocks) : 1;
  const int64_t splits = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, extent.depth / kShortestSplit));
  choice.depth_per_split = DepthOf(extent, splits);
  return choice;
}

ProductKernel KernelNamed(std::string_view name) {
  std::vector<std::string> known{"auto", "cublaslt"};
  for (const ProductKernel kernel : {ProductKernel::kLarge, ProductKernel::kMedium, ProductKernel::kSmall,
                                     ProductKernel::kPaper2017, ProductKernel::kPaper2016}) {
    if (ProductKernelName(kernel) == name) {
      return kernel;
    }
    known.emplace_back(ProductKernelName(kernel));
  }
  ThrowUnknownName(name, known, "backend cuda has no such kernel");
}

bool IsBaseline(ProductKernel kernel) {
  return kernel == ProductKernel::kPaper2017 || kernel == ProductKernel::kPaper2016;
}

bool Aligned(const ConstMatrixView& view) {
  return reinterpret_cast<uintptr_t>(view.data) % 16 == 0 && view.stride * DTypeSize_bytes(view.dtype) % 16 == 0;
}

template <class E>
Operand<E> OperandOf(const ConstMatrixView& view) {
  return {static_cast<const E*>(view.data), view.stride};
}

class CudaLayer final : public PreparedLayer {
 public:
  CudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device, const BackendOptions& options);
  ~CudaLayer() override {
    device_->Free(partial_);
    device_->Free(scaled_delta_);
  }

  void Forward(const ForwardArgs& args) noexcept override;
  void InputGradient(const InputGradientArgs& args) noexcept override;
  void WeightGradient(const WeightGradientArgs& args) noexcept override;
  std::string Describe() const override;

 private:
  const Choice& ChoiceOf(Pass pass) const { return choices_[static_cast<size_t>(pass)]; }
  LtProduct& Library(Pass pass) const { return *libraries_[static_cast<size_t>(pass)]; }
  Choice Choose(Pass pass, const BackendOptions& options) const;
  void AllocateScratch();

  template <class E, class S>
  ProductLaunch<E, S> LaunchOf(Pass pass, const ConstMatrixView& a, const ConstMatrixView& b, int64_t batch) const;
  template <class E, class S, class T>
  void ForwardOf(const ForwardArgs& args) const;
  ConstMatrixView ScaledDelta(const ConstMatrixView& delta, const ConstMatrixView& distance) const;

  LayerPlanRequest request_;
  std::shared_ptr<Device> device_;
  std::array<Choice, 3> choices_;
  std::array<std::unique_ptr<LtProduct>, 3> libraries_;
  void* partial_ = nullptr;
  void* scaled_delta_ = nullptr;
};

CudaLayer::CudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device,
                     const BackendOptions& options)
    : request_(request), device_(device) {
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
    if (pass == Pass::kForward || request.training) {
      const auto at = static_cast<size_t>(pass);
      choices_[at] = Choose(pass, options);
      if (choices_[at].library) {
        libraries_[at] = std::make_unique<LtProduct>(*device_, request_, pass, choices_[at].algorithm);
      }
    }
  }
  AllocateScratch();
}

Choice CudaLayer::Choose(Pass pass, const BackendOptions& options) const {
  const Problem problem{request_.layer, pass, request_.max_batch, request_.dtype, request_.precision};
  const bool may_split = !request_.any_slicing;
  Choice choice = Estimate(problem, may_split, device_->facts().multiprocessors);
  const Extent extent = ExtentOf(request_.layer, pass, request_.max_batch);
  const Plan plan = options.plans == nullptr ? Plan() : options.plans->PlanFor(problem);
  const std::string kernel = options.kernel == "auto" ? plan.kernel : options.kernel;
  const Verdict library = LtSupports(problem);
  const bool names_library = kernel.starts_with(kLibraryName);
  if (names_library && !library && options.kernel != "auto" && request_.layer.synapse == Synapse::kDot) {
    throw Error(ErrorCode::kUnsupported, "kernel cublaslt is not available: " + library.reason);
  }
  if (library && may_split && (kernel.empty() || kernel == "auto" || names_library)) {
    choice.library = true;
    choice.algorithm = names_library && kernel.size() > kLibraryName.size()
                           ? std::atoi(kernel.c_str() + kLibraryName.size() + 1)  // "cublaslt:2"
                           : 0;
    return choice;
  }
  if (!kernel.empty() && kernel != "auto" && !names_library) {
    choice.kernel = KernelNamed(kernel);
  }
  if (plan.depth > 0 && may_split) {  // of a profile, which may be of another problem
    choice.depth_per_split = DepthOf(extent, CeilDivide(extent.depth, plan.depth));
  }
  if (IsBaseline(choice.kernel)) {
    choice.depth_per_split = std::max<int64_t>(1, extent.depth);
  }
  return choice;
}

void CudaLayer::AllocateScratch() {
  int64_t partial_bytes = 0;
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
    if (pass != Pass::kForward && !request_.training) {
      continue;
    }
    const Extent extent = ExtentOf(request_.layer, pass, request_.max_batch);
    const Choice& choice = ChoiceOf(pass);
    const int64_t splits = choice.Splits(extent.depth);
    if (choice.library || splits > 1) {
      partial_bytes =
          std::max(partial_bytes, splits * extent.rows * extent.cols * DTypeSize_bytes(SumType(request_.dtype)));
    }
  }
  partial_ = device_->Allocate(partial_bytes);
  if (request_.training && SynapseScalesDelta(request_.layer.synapse)) {
    scaled_delta_ = device_->Allocate(request_.max_batch * request_.layer.outputs * DTypeSize_bytes(request_.dtype));
  }
}

template <class E, class S>
ProductLaunch<E, S> CudaLayer::LaunchOf(Pass pass, const ConstMatrixView& a, const ConstMatrixView& b,
                                        int64_t batch) const {
  const Choice& choice = ChoiceOf(pass);
  const Extent extent = ExtentOf(request_.layer, pass, batch);
  ProductLaunch<E, S> launch;
  launch.kernel = choice.kernel;
  launch.pairs = request_.precision == Precision::kFast;
  launch.args.a = OperandOf<E>(a);
  launch.args.b = OperandOf<E>(b);
  launch.args.rows = extent.rows;
  launch.args.cols = extent.cols;
  launch.args.depth = extent.depth;
  launch.args.aligned = Aligned(a) && Aligned(b);
  const bool split = extent.depth > choice.depth_per_split && !IsBaseline(choice.kernel);
  launch.args.depth_per_split = split ? choice.depth_per_split : std::max<int64_t>(1, extent.depth);
  launch.args.partial = split ? static_cast<S*>(partial_) : nullptr;
  return launch;
}

template <class E, class S, class T>
void CudaLayer::ForwardOf(const ForwardArgs& args) const {
  const LayerSpec& layer = request_.layer;
  ProductLaunch<E, S> launch = LaunchOf<E, S>(Pass::kForward, args.x, args.weights, args.x.rows);
  launch.args.cols = args.weights.rows;  // may be fewer than were prepared
  ForwardEpilogue<T, S> epilogue;
  epilogue.a = RowsOf<T>(args.a);
  epilogue.z = RowsOf<T>(args.z);
  epilogue.distance = RowsOf<T>(args.distance);
  epilogue.sums = RowsOf<S>(args.sums);
  epilogue.bias = static_cast<const T*>(args.bias);
  epilogue.synapse = layer.synapse;
  epilogue.activation = ToDevice(layer.activation);
  if constexpr (std::is_same_v<T, S>) {
    if (ChoiceOf(Pass::kForward).library) {
      S* product = static_cast<S*>(partial_);
      Library(Pass::kForward).Run(args.x, args.weights, product);
      LaunchEpilogue(*device_, product, 1, launch.args.rows, launch.args.cols, epilogue);
    } else {
      LaunchForward(*device_, layer.synapse, launch, epilogue);
    }
  } else {
    LaunchForward(*device_, layer.synapse, launch, epilogue);
  }
  if (args.a.empty()) {
    return;
  }
  if (layer.activation.is_softmax()) {
    LaunchSoftmax(*device_, args.a);
  } else if (const auto* loops = layer.activation.device_loops()) {
    loops->value(layer.activation, device_.get(), args.a);
  }
}

void CudaLayer::Forward(const ForwardArgs& args) noexcept {
  Check(args.x.empty() || args.x.space == Space::kDevice, "CudaLayer: operands on the device expected");
  switch (request_.dtype) {
    case DType::kF64: return ForwardOf<double, double, double>(args);
    case DType::kF32: return ForwardOf<float, float, float>(args);
    case DType::kF16: return ForwardOf<Float16, float, float>(args);
    case DType::kBF16: return ForwardOf<BFloat16, float, float>(args);
    case DType::kI64: return ForwardOf<int64_t, int64_t, double>(args);
    case DType::kI32: return ForwardOf<int32_t, int64_t, double>(args);
    case DType::kI16: return ForwardOf<int16_t, int64_t, float>(args);
    case DType::kI8: return ForwardOf<int8_t, int32_t, float>(args);
    case DType::kU8: return ForwardOf<uint8_t, int32_t, float>(args);
  }
}

ConstMatrixView CudaLayer::ScaledDelta(const ConstMatrixView& delta, const ConstMatrixView& distance) const {
  if (!SynapseScalesDelta(request_.layer.synapse)) {
    return delta;
  }
  LaunchScaleDelta(*device_, request_.layer.synapse, delta, distance, scaled_delta_);
  ConstMatrixView scaled = delta;
  scaled.data = scaled_delta_;
  scaled.stride = delta.cols;
  return scaled;
}

void CudaLayer::InputGradient(const InputGradientArgs& args) noexcept {
  Check(args.delta.empty() || args.delta.space == Space::kDevice, "CudaLayer: operands on the device expected");
  DispatchFloat(request_.dtype, [&]<class T>(T) {
    const ConstMatrixView delta = ScaledDelta(args.delta, args.distance);
    ProductLaunch<T, T> launch = LaunchOf<T, T>(Pass::kInputGradient, delta, args.weights, delta.rows);
    launch.args.own = OperandOf<T>(args.x);
    SlopeEpilogue<T> epilogue;
    epilogue.out = RowsOf<T>(args.out);
    epilogue.a = RowsOf<T>(args.x);
    epilogue.z = RowsOf<T>(args.previous_z);
    const Activation::DeviceLoops* loops = args.previous == nullptr ? nullptr : args.previous->device_loops();
    epilogue.has_slope = args.previous != nullptr && loops == nullptr;
    epilogue.previous = args.previous == nullptr ? DeviceActivation{} : ToDevice(*args.previous);
    if (ChoiceOf(Pass::kInputGradient).library) {
      T* product = static_cast<T*>(partial_);
      Library(Pass::kInputGradient).Run(delta, args.weights, product);
      LaunchEpilogue(*device_, product, 1, launch.args.rows, launch.args.cols, epilogue);
    } else {
      LaunchInputGradient(*device_, request_.layer.synapse, launch, epilogue);
    }
    if (loops != nullptr) {
      loops->slope(*args.previous, device_.get(), args.previous_z, args.x, args.out);
    }
  });
}

void CudaLayer::WeightGradient(const WeightGradientArgs& args) noexcept {
  Check(args.x.empty() || args.x.space == Space::kDevice, "CudaLayer: operands on the device expected");
  DispatchFloat(request_.dtype, [&]<class T>(T) {
    const LayerSpec& layer = request_.layer;
    const ConstMatrixView delta = ScaledDelta(args.delta, args.distance);
    ProductLaunch<T, T> launch = LaunchOf<T, T>(Pass::kWeightGradient, delta, args.x, delta.rows);
    launch.args.own = {static_cast<const T*>(args.weights.value), layer.inputs};
    const auto epilogue = ToDevice<T>(*device_, args.weights, layer.inputs, args.rule, /*decay=*/true);
    if (ChoiceOf(Pass::kWeightGradient).library) {
      T* product = static_cast<T*>(partial_);
      Library(Pass::kWeightGradient).Run(delta, args.x, product);
      LaunchEpilogue(*device_, product, 1, launch.args.rows, launch.args.cols, epilogue);
    } else {
      LaunchWeightGradient(*device_, layer.synapse, launch, epilogue);
    }
    if (args.bias.value != nullptr || args.bias.gradient != nullptr) {
      LaunchColumnSums(*device_, args.delta, args.bias, args.rule);
    }
  });
}

std::string CudaLayer::Describe() const {
  const Choice& forward = ChoiceOf(Pass::kForward);
  if (forward.library) {
    return fmt::format("cuda: {} {} by cuBLASLt", SynapseName(request_.layer.synapse), DTypeName(request_.dtype));
  }
  const TileSides sides = SidesOf(forward.kernel, request_.dtype, false);
  return fmt::format("cuda: {} {}, kernel {}{}, {} splits", SynapseName(request_.layer.synapse),
                     DTypeName(request_.dtype), ProductKernelName(forward.kernel),
                     IsBaseline(forward.kernel) ? "" : fmt::format(" {}x{}", sides.rows, sides.cols),
                     forward.Splits(request_.layer.inputs));
}

}  // namespace

std::unique_ptr<PreparedLayer> MakeCudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device,
                                             const BackendOptions& options) {
  return std::make_unique<CudaLayer>(request, device, options);
}

std::vector<Plan> CudaCandidates(const Problem& problem, const Device& device) {
  const Choice estimate = Estimate(problem, true, device.facts().multiprocessors);
  const int64_t depth = ExtentOf(problem.layer, problem.pass, problem.batch).depth;
  std::vector<Plan> plans;
  if (LtSupports(problem)) {
    for (int algorithm = 0; algorithm < kLibraryCandidates; ++algorithm) {
      plans.push_back({.kernel = fmt::format("{}:{}", kLibraryName, algorithm)});
    }
  }
  for (const ProductKernel kernel : kTiles) {
    for (const int64_t splits : {estimate.Splits(depth), int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}}) {
      const int64_t part = CeilDivide(CeilDivide(std::max<int64_t>(1, depth), splits), kDepthStep) * kDepthStep;
      const Plan plan{.kernel = std::string(ProductKernelName(kernel)), .depth = part};
      if (std::find(plans.begin(), plans.end(), plan) == plans.end()) {
        plans.push_back(plan);
      }
    }
  }
  return plans;
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
