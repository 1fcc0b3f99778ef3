// Chooses kernels when the layer is prepared, then only launches.
#include "lamina/backend/cuda/cuda_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/whole_batch.h"
#include "lamina/base/convert.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

// The part of a product's first operand that `rows` rows of the result from `first` on come from.
ConstMatrixView PanelOf(Pass pass, const ConstMatrixView& a, int64_t first, int64_t rows) {
  if (pass != Pass::kWeightGradient) {
    return a.Rows(first, rows);
  }
  ConstMatrixView columns = a;
  columns.data = static_cast<const char*>(a.data) + first * DTypeSize_bytes(a.dtype);
  columns.cols = rows;
  return columns;
}

// Launches the product on the tensor cores if it is to be there; the pass is that of the epilogue.
template <class E, class S, class Epilogue>
bool LaunchTensorIfChosen(Device& device, const ProductLaunch<E, S>& launch, const Epilogue& epilogue) {
  if (!IsTensor(launch.kernel)) {
    return false;
  }
  if constexpr (std::is_same_v<S, float>) {  // the others have no such kernels: TensorSupports()
    if constexpr (std::is_same_v<Epilogue, ForwardEpilogue<float, float>>) {
      LaunchTensorForward(device, launch, epilogue);
    } else if constexpr (std::is_same_v<Epilogue, SlopeEpilogue<float>>) {
      LaunchTensorInputGradient(device, launch, epilogue);
    } else {
      LaunchTensorWeightGradient(device, launch, epilogue);
    }
  }
  return true;
}

// Where the library's own epilogue does all that this one is for; without data elsewhere.
LtResult DirectResult(const ForwardEpilogue<float, float>& epilogue) {
  const bool more = epilogue.z.data != nullptr || epilogue.distance.data != nullptr || epilogue.sums.data != nullptr ||
                    epilogue.row_norms.data != nullptr;
  const bool relu = IsFormula<formulas::Relu>(epilogue.activation);
  if (more || !(relu || IsFormula<formulas::Identity>(epilogue.activation))) {
    return {};
  }
  return {epilogue.a.data, epilogue.a.stride, epilogue.bias.data, relu};
}

class CudaLayer final : public PreparedLayer {
 public:
  CudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device, const BackendOptions& options);
  ~CudaLayer() override {
    device_->Free(partial_);
    device_->Free(scaled_delta_);
    device_->Free(norms_);
  }

  void Forward(const ForwardArgs& args) noexcept override;
  void InputGradient(const InputGradientArgs& args) noexcept override;
  void WeightGradient(const WeightGradientArgs& args) noexcept override;
  std::string Describe() const override;

 private:
  const Choice& ChoiceOf(Pass pass) const { return choices_[static_cast<size_t>(pass)]; }
  LtProduct& Library(Pass pass) const { return *libraries_[static_cast<size_t>(pass)]; }
  void AllocateScratch();

  template <class E, class S>
  ProductLaunch<E, S> LaunchOf(Pass pass, const ConstMatrixView& a, const ConstMatrixView& b, int64_t batch) const;
  template <class E, class S, class T>
  void ForwardOf(const ForwardArgs& args) const;
  template <class S, class Epilogue>
  void LibraryProduct(Pass pass, const ConstMatrixView& a, const ConstMatrixView& b, int64_t rows, int64_t cols,
                      const Epilogue& epilogue) const;
  ConstMatrixView ScaledDelta(const ConstMatrixView& delta, const ConstMatrixView& distance) const;

  LayerPlanRequest request_;
  std::shared_ptr<Device> device_;
  std::array<Choice, 3> choices_;
  std::array<std::unique_ptr<LtProduct>, 3> libraries_;
  void* partial_ = nullptr;
  void* scaled_delta_ = nullptr;
  void* norms_ = nullptr;  // of l2 distances by dot products
};

CudaLayer::CudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device,
                     const BackendOptions& options)
    : request_(request), device_(device) {
  // Training needs small distances as they are: the gradient divides by them.
  const bool exactly = request.training && IsDistance(request.layer.synapse);
  const Precision precision = exactly ? Precision::kExact : request.precision;
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
    if (pass == Pass::kForward || request.training) {
      const auto at = static_cast<size_t>(pass);
      choices_[at] = Choose({request.layer, pass, request.max_batch, request.dtype, precision}, request.any_slicing,
                            *device_, options);
      if (choices_[at].library) {
        libraries_[at] = std::make_unique<LtProduct>(*device_, request_, pass, choices_[at].algorithm);
      }
    }
  }
  AllocateScratch();
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
    const int64_t rows = choice.library ? choice.panel_rows : splits > 1 ? splits * extent.rows : 0;
    partial_bytes = std::max(partial_bytes, rows * extent.cols * DTypeSize_bytes(SumType(request_.dtype)));
  }
  partial_ = device_->Allocate(partial_bytes);
  if (IsDistance(request_.layer.synapse) && IsTensor(ChoiceOf(Pass::kForward).kernel)) {
    norms_ = device_->Allocate((request_.max_batch + request_.layer.outputs) * static_cast<int64_t>(sizeof(float)));
  }
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
  launch.precision = request_.precision;
  launch.args.a = OperandOf<E>(a);
  launch.args.b = OperandOf<E>(b);
  launch.args.rows = extent.rows;
  launch.args.cols = extent.cols;
  launch.args.depth = extent.depth;
  const bool split = extent.depth > choice.depth_per_split && !IsBaseline(choice.kernel);
  launch.args.depth_per_split = split ? choice.depth_per_split : std::max<int64_t>(1, extent.depth);
  launch.args.partial = split ? static_cast<S*>(partial_) : nullptr;
  return launch;
}

template <class S, class Epilogue>
void CudaLayer::LibraryProduct(Pass pass, const ConstMatrixView& a, const ConstMatrixView& b, int64_t rows,
                               int64_t cols, const Epilogue& epilogue) const {
  if constexpr (std::is_same_v<Epilogue, ForwardEpilogue<float, float>>) {
    if (const LtResult direct = DirectResult(epilogue); direct.data != nullptr && Library(pass).Run(a, b, direct)) {
      return;
    }
  }
  S* const product = static_cast<S*>(partial_);
  const int64_t together = ChoiceOf(pass).panel_rows;
  for (int64_t first = 0; first < rows; first += together) {
    const int64_t count = std::min(together, rows - first);
    Library(pass).Run(PanelOf(pass, a, first, count), b, {product});
    LaunchEpilogue(*device_, product, 1, first, count, cols, epilogue);
  }
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
  const T* const bias = static_cast<const T*>(args.bias);
  epilogue.bias = {bias, 0, IsWide(bias, 0)};
  epilogue.synapse = layer.synapse;
  epilogue.activation = ToDevice(layer.activation);
  if constexpr (std::is_same_v<S, float>) {
    if (norms_ != nullptr) {
      auto* const norms = static_cast<float*>(norms_);
      LaunchNorms(*device_, launch, norms);
      const float* const col_norms = norms + launch.args.rows;
      epilogue.row_norms = {norms, 0, IsWide(norms, 0)};
      epilogue.col_norms = {col_norms, 0, IsWide(col_norms, 0)};
    }
  }
  if constexpr (std::is_same_v<T, S>) {
    if (ChoiceOf(Pass::kForward).library) {
      LibraryProduct<S>(Pass::kForward, args.x, args.weights, launch.args.rows, launch.args.cols, epilogue);
    } else if (!LaunchTensorIfChosen(*device_, launch, epilogue)) {
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
      LibraryProduct<T>(Pass::kInputGradient, delta, args.weights, launch.args.rows, launch.args.cols, epilogue);
    } else if (!LaunchTensorIfChosen(*device_, launch, epilogue)) {
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
      LibraryProduct<T>(Pass::kWeightGradient, delta, args.x, launch.args.rows, launch.args.cols, epilogue);
    } else if (!LaunchTensorIfChosen(*device_, launch, epilogue)) {
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
                     DTypeName(request_.dtype), RowOf(forward.kernel).name,
                     IsBaseline(forward.kernel) ? "" : fmt::format(" {}x{}", sides.rows, sides.cols),
                     forward.Splits(request_.layer.inputs));
}

}  // namespace

std::unique_ptr<PreparedLayer> MakeCudaLayer(const LayerPlanRequest& request, const std::shared_ptr<Device>& device,
                                             const BackendOptions& options) {
  return std::make_unique<CudaLayer>(request, device, options);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
