// Memory around the reducing kernels: rows that come and go, lists, kept outputs.
#include "lamina/backend/cuda/cuda_reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/on_device.h"
#include "lamina/backend/cuda/reduce.h"
#include "lamina/backend/cuda/whole_batch.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int64_t kLeastListed = 1024;
constexpr int64_t kKeptRows = 4096;   // outputs of one piece of memory
constexpr int64_t kMostAnswers = 64;  // outputs for which a warp adds up activations

int64_t ListCapacity(int64_t k) {
  int64_t capacity = kLeastListed;
  while (capacity < 2 * k) {
    capacity *= 2;
  }
  return capacity;
}

template <class T>
class CudaNearestLists final : public NearestLists {
 public:
  CudaNearestLists(const LayerPlanRequest& request, int64_t k, const std::shared_ptr<Device>& device)
      : device_(device),
        synapse_(request.layer.synapse),
        k_(k),
        x_(device, request.max_batch, request.layer.inputs),
        y_(device, request.layer.outputs, request.layer.inputs),
        limits_(device, request.max_batch),
        counts_(device, request.max_batch),
        sums_(device, request.max_batch * ListCapacity(k)),
        indices_(device, request.max_batch * ListCapacity(k)),
        sorted_sums_(device, request.max_batch * k),
        sorted_indices_(device, request.max_batch * k) {
    lists_ = {limits_.get(), counts_.get(), sums_.get(), indices_.get(), ListCapacity(k), !IsDistance(synapse_)};
  }

  void Start(ConstMatrixView x) override {
    rows_ = x.rows;
    x_.Set(x);
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    limits_.Upload(std::vector<T>(static_cast<size_t>(rows_), lists_.largest ? -kInfinity : kInfinity).data(), rows_);
    counts_.Upload(std::vector<unsigned>(static_cast<size_t>(rows_), 0U).data(), rows_);
  }

  // So many rows at once that no list runs over whatever their distances are.
  void Add(ConstMatrixView y, int64_t first_index) override {
    y_.Set(y);
    const int64_t step = (lists_.capacity - k_) / kReducedColumns * kReducedColumns;
    for (int64_t begin = 0; begin < y.rows; begin += step) {
      const int64_t count = std::min(step, y.rows - begin);
      LaunchNear(*device_, synapse_, ProductOf<T>(x_.From(0), rows_, y_.From(begin), count, x_.cols()), lists_,
                 first_index + begin);
      LaunchCut(*device_, lists_, rows_, k_);
    }
  }

  void Finish(MatrixView indices, MatrixView sums) override {
    LaunchSorted(*device_, lists_, rows_, k_, kNone, sorted_sums_.get(), sorted_indices_.get());
    sorted_sums_.Download(sums.Row<T>(0), rows_ * k_);
    sorted_indices_.Download(indices.Row<int64_t>(0), rows_ * k_);
  }

 private:
  std::shared_ptr<Device> device_;
  Synapse synapse_;
  int64_t k_;
  int64_t rows_ = 0;
  PaddedRows<T> x_;
  PaddedRows<T> y_;
  OnDevice<T> limits_;
  OnDevice<unsigned> counts_;
  OnDevice<T> sums_;
  OnDevice<int64_t> indices_;
  OnDevice<T> sorted_sums_;
  OnDevice<int64_t> sorted_indices_;
  DeviceLists<T> lists_;
};

template <class T>
class CudaActivationSums final : public ActivationSums {
 public:
  CudaActivationSums(const LayerPlanRequest& request, const std::shared_ptr<Device>& device)
      : device_(device),
        synapse_(request.layer.synapse),
        activation_(ToDevice(request.layer.activation)),
        x_(device, request.max_batch, request.layer.inputs),
        parts_(device, CeilDivide(kKeptRows, kReducedColumns) * request.max_batch),
        sums_(device, request.max_batch),
        sums_here_(static_cast<size_t>(request.max_batch)) {}

  void Append(ConstMatrixView rows) override {
    for (int64_t begin = 0; begin < rows.rows;) {
      const int64_t at = size_ % kKeptRows;
      if (at == 0) {
        kept_.push_back(std::make_unique<PaddedRows<T>>(device_, kKeptRows, x_.cols()));
      }
      const int64_t count = std::min(rows.rows - begin, kKeptRows - at);
      kept_.back()->Upload(at, rows.Rows(begin, count));
      size_ += count;
      begin += count;
    }
  }

  void Add(ConstMatrixView x, int64_t begin, int64_t count, double* sums) override {
    x_.Upload(0, x);
    for (const int64_t end = begin + count; begin < end;) {
      const int64_t at = begin % kKeptRows;
      const int64_t some = std::min(end - begin, kKeptRows - at);
      const Operand<T> kept = kept_[static_cast<size_t>(begin / kKeptRows)]->From(at);
      LaunchActivationSums(*device_, synapse_, ProductOf<T>(x_.From(0), x.rows, kept, some, x_.cols()), activation_,
                           parts_.get(), sums_.get());
      sums_.Download(sums_here_.data(), x.rows);
      for (int64_t i = 0; i < x.rows; ++i) {
        sums[i] += sums_here_[static_cast<size_t>(i)];
      }
      begin += some;
    }
  }

 private:
  std::shared_ptr<Device> device_;
  Synapse synapse_;
  DeviceActivation activation_;
  PaddedRows<T> x_;
  std::vector<std::unique_ptr<PaddedRows<T>>> kept_;  // kKeptRows each
  int64_t size_ = 0;
  OnDevice<double> parts_;
  OnDevice<double> sums_;
  std::vector<double> sums_here_;
};

template <class T>
class CudaTwoLayers final : public TwoLayers {
 public:
  CudaTwoLayers(const LayerPlanRequest& hidden, const LayerSpec& output, const std::shared_ptr<Device>& device)
      : device_(device),
        hidden_(hidden.layer),
        output_(output),
        parts_(device, CeilDivide(hidden.layer.outputs, kReducedColumns) * hidden.max_batch * output.outputs) {}

  void Forward(const TwoLayerArgs& args) noexcept override {
    const Operand<T> x = OperandOf<T>(args.x);
    const Operand<T> weights = OperandOf<T>(args.hidden_weights);
    TwoLayerEpilogues<T> epilogues;
    epilogues.hidden_bias = static_cast<const T*>(args.hidden_bias);
    epilogues.hidden_activation = ToDevice(hidden_.activation);
    epilogues.output_weights = RowsOf<T>(args.output_weights);
    epilogues.outputs = output_.outputs;
    epilogues.parts = parts_.get();
    epilogues.output.a = RowsOf<T>(args.a);
    const auto* output_bias = static_cast<const T*>(args.output_bias);
    epilogues.output.bias = {output_bias, 0, IsWide(output_bias, 0)};
    epilogues.output.activation = ToDevice(output_.activation);
    LaunchTwoLayers(*device_, hidden_.synapse, ProductOf<T>(x, args.x.rows, weights, hidden_.outputs, hidden_.inputs),
                    epilogues);
    if (output_.activation.is_softmax()) {
      LaunchSoftmax(*device_, args.a);
    }
  }

  std::string Describe() const override {
    return fmt::format("cuda: {} {} neurons and {} {} over them in one pass", hidden_.outputs,
                       SynapseName(hidden_.synapse), output_.outputs, SynapseName(output_.synapse));
  }

 private:
  std::shared_ptr<Device> device_;
  LayerSpec hidden_;
  LayerSpec output_;
  OnDevice<T> parts_;
};

bool IsTiled(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

// Whether a kernel has the activation of a layer of distances.
bool IsReduced(const LayerPlanRequest& request) {
  const Activation& activation = request.layer.activation;
  return IsTiled(request.dtype) && IsDistance(request.layer.synapse) && activation.kind() != Activation::kCustom &&
         !activation.is_softmax() && !request.layer.trained_radius;
}

}  // namespace

std::unique_ptr<NearestLists> MakeNearestLists(const LayerPlanRequest& request, int64_t k,
                                               const std::shared_ptr<Device>& device) {
  if (!IsTiled(request.dtype) || ListCapacity(k) > kMostListed) {
    return nullptr;
  }
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<NearestLists> {
    return std::make_unique<CudaNearestLists<T>>(request, k, device);
  });
}

std::unique_ptr<ActivationSums> MakeActivationSums(const LayerPlanRequest& request,
                                                   const std::shared_ptr<Device>& device) {
  if (!IsReduced(request)) {
    return nullptr;
  }
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<ActivationSums> {
    return std::make_unique<CudaActivationSums<T>>(request, device);
  });
}

std::unique_ptr<TwoLayers> MakeTwoLayers(const LayerPlanRequest& hidden, const LayerSpec& output,
                                         const std::shared_ptr<Device>& device) {
  if (!IsReduced(hidden) || hidden.any_slicing || hidden.training || output.synapse != Synapse::kDot ||
      output.outputs > kMostAnswers || output.activation.kind() == Activation::kCustom) {
    return nullptr;
  }
  return DispatchFloat(hidden.dtype, [&]<class T>(T) -> std::unique_ptr<TwoLayers> {
    return std::make_unique<CudaTwoLayers<T>>(hidden, output, device);
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
