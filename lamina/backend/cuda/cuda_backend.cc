// Memory, planning and whole-batch operations on the GPU.
#include "lamina/backend/cuda/cuda_backend.h"

#include <fmt/format.h>

#include "lamina/backend/cuda/cublaslt.h"
#include "lamina/backend/cuda/cuda_joint.h"
#include "lamina/backend/cuda/cuda_kernels.h"
#include "lamina/backend/cuda/cuda_layer.h"
#include "lamina/backend/cuda/cuda_network.h"
#include "lamina/backend/cuda/cuda_plan.h"
#include "lamina/backend/cuda/cuda_ranks.h"
#include "lamina/backend/cuda/cuda_reductions.h"
#include "lamina/backend/cuda/cuda_steps.h"
#include "lamina/backend/cuda/cusolver.h"
#include "lamina/backend/cuda/elementwise.h"
#include "lamina/backend/cuda/product.h"
#include "lamina/backend/cuda/whole_batch.h"
#include "lamina/backend/requirements.h"
#include "lamina/backend/runs_beside.h"
#include "lamina/backend/used_libraries.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(std::shared_ptr<Device> device, int64_t size_bytes)
      : device_(std::move(device)), data_(device_->Allocate(size_bytes)), size_bytes_(size_bytes) {}
  ~DeviceBuffer() override { device_->Free(data_); }
  void* data() const override { return data_; }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  std::shared_ptr<Device> device_;
  void* data_;
  int64_t size_bytes_;
};

class CudaBackend final : public Backend,
                          public UsesLibraries,
                          public ReducesOnDevice,
                          public MakesDeviceKernels,
                          public SuitsWholeNetworks,
                          public RunsBeside {
 public:
  CudaBackend(const BackendOptions& options, std::shared_ptr<JointLaunch> joint)
      : options_(options),
        joint_(std::move(joint)),
        device_(std::make_shared<Device>(options.device)),
        elementwise_(MakeCudaElementwise(device_)) {}

  std::string_view name() const override { return "cuda"; }
  std::string Describe() const override {
    const DeviceFacts& facts = device_->facts();
    return fmt::format("cuda: {}, compute capability {}.{}, {} multiprocessors, driver {}", facts.name,
                       facts.compute_major, facts.compute_minor, facts.multiprocessors, facts.driver);
  }
  std::string DescribeLibraries() const override {
    const auto text = [](const char* name, const Verdict& available, const std::string& version) {
      return available ? fmt::format("{} {}", name, version) : available.reason;
    };
    return text("cuBLASLt", LtAvailable(), LtVersion()) + ", " + text("cuSOLVER", SolverAvailable(), SolverVersion());
  }
  int threads() const override { return 1; }
  Space space() const override { return Space::kDevice; }

  Verdict Supports(const Problem& problem) const override {
    if (Verdict verdict = CheckDType(problem); !verdict) {
      return verdict;
    }
    const auto named = FindKernel(options_.kernel);
    if (options_.kernel.starts_with("paper-") && problem.dtype != DType::kF32) {
      return Verdict::No("the papers' kernels are here in f32 only");
    }
    if (options_.kernel == RowOf(ProductKernel::kMedium).name && problem.dtype != DType::kF32) {
      return Verdict::No("the medium tile is here in f32 only");
    }
    if (std::max({problem.layer.inputs, problem.layer.outputs, problem.batch}) > kMostDepth) {
      return Verdict::No(fmt::format("more than {} inputs, outputs or rows at once", kMostDepth));
    }
    if (problem.precision == Precision::kBFloat16) {
      if (problem.dtype != DType::kF32 || problem.layer.synapse != Synapse::kDot) {
        return Verdict::No(fmt::format("bf16 operands are for dot layers in f32, not {} in {}",
                                       SynapseName(problem.layer.synapse), DTypeName(problem.dtype)));
      }
      if (options_.kernel != "auto" && !options_.kernel.starts_with("cublaslt") && !(named && IsTensor(*named))) {
        return Verdict::No("kernel " + options_.kernel + " has no products of bf16 operands");
      }
    }
    if (named && IsTensor(*named)) {
      if (Verdict tensor = TensorSupports(problem); !tensor) {
        return tensor;
      }
    }
    if (named && IsWgmma(*named)) {
      if (Verdict wgmma = WgmmaAvailable(*device_); !wgmma) {
        return wgmma;
      }
    }
    const Activation& activation = problem.layer.activation;
    if (activation.kind() == Activation::kCustom && activation.device_loops() == nullptr) {
      return Verdict::No(
          fmt::format("the activation {} has host code only: make it with lamina::cuda::CustomActivation in a .cu file",
                      activation.name()));
    }
    return ExactInPlaceOf(problem.precision);
  }
  std::vector<Plan> Candidates(const Problem& problem) const override { return CudaCandidates(problem, *device_); }

  int64_t FreeMemory_bytes() const override { return device_->FreeMemory_bytes(); }
  std::unique_ptr<Buffer> Allocate(int64_t size_bytes) const override {
    return std::make_unique<DeviceBuffer>(device_, size_bytes);
  }
  void Upload(void* to, const void* host, int64_t size_bytes) const override { device_->Upload(to, host, size_bytes); }
  void Download(void* host, const void* from, int64_t size_bytes) const override {
    device_->Download(host, from, size_bytes);
  }

  void Synchronize() const override { device_->Synchronize(); }
  void AwaitOthers() const override { device_->AwaitOthers(); }
  std::unique_ptr<CopyStreams> MakeCopyStreams() const override { return device_->MakeCopyStreams(); }

  std::unique_ptr<ArrayMath> MakeArrayMath() const override { return MakeCudaArrayMath(device_); }
  std::unique_ptr<DeviceExchange> JoinRanks(const RankMeeting& meeting, Verdict* why) const override {
    return JoinCudaRanks(meeting, device_, why);
  }

  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    return MakeCudaLayer(request, device_, options_);
  }

  std::unique_ptr<PreparedNetwork> PrepareNetwork(const NetworkPlanRequest& request, Verdict* why) const override {
    if (options_.kernel != "auto") {
      *why = Verdict::No(fmt::format("kernel {} computes layer by layer", options_.kernel));
      return nullptr;
    }
    return MakeCudaNetwork(request, device_, why);
  }
  Verdict SuitsWhole(const NetworkPlanRequest& request) const override {
    return options_.kernel == "auto" ? CudaNetworkSuits(request, *device_) : Verdict::No("another kernel is named");
  }
  std::unique_ptr<RecordedSteps> MakeRecordedSteps() const override { return MakeCudaSteps(device_, joint_); }
  std::unique_ptr<Backend> MakeBeside() const override { return std::make_unique<CudaBackend>(options_, joint_); }

  // The kernel that the options name is of layers: what is reduced has its own.
  std::unique_ptr<NearestLists> PrepareNearest(const LayerPlanRequest& request, int64_t k) const override {
    return options_.kernel == "auto" ? MakeNearestLists(request, k, device_) : nullptr;
  }
  std::unique_ptr<ActivationSums> PrepareActivationSums(const LayerPlanRequest& request) const override {
    return options_.kernel == "auto" ? MakeActivationSums(request, device_) : nullptr;
  }
  std::unique_ptr<TwoLayers> PrepareTwoLayers(const LayerPlanRequest& hidden, const LayerSpec& output) const override {
    return options_.kernel == "auto" ? MakeTwoLayers(hidden, output, device_) : nullptr;
  }

  Verdict KernelsAvailable(int64_t rows) const override { return CudaKernelsAvailable(rows); }
  std::string DescribeKernels() const override { return "cuda: cuSOLVER " + SolverVersion(); }
  int64_t KernelsBytes(const DeviceKernelsRequest& request) const override { return CudaKernelsBytes(request); }
  std::unique_ptr<DeviceKernels> MakeKernels(const DeviceKernelsRequest& request) const override {
    return MakeCudaKernels(request, device_);
  }

  void GatherRows(ConstMatrixView from, const int64_t* rows, int64_t count, MatrixView to) const noexcept override {
    LaunchGatherRows(*device_, from, rows, count, to);
  }
  void ComputeLoss(const LossArgs& args) const noexcept override { LaunchLoss(*device_, args); }
  void ClipGradient(const ClipArgs& args) const noexcept override { LaunchClip(*device_, args); }
  void Update(const UpdateArgs& args) const noexcept override { LaunchUpdate(*device_, args); }
  const Elementwise& elementwise() const override { return *elementwise_; }

 private:
  BackendOptions options_;
  std::shared_ptr<JointLaunch> joint_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Elementwise> elementwise_;
};

}  // namespace

std::unique_ptr<Backend> MakeCudaBackend(const BackendOptions& options) {
  return std::make_unique<CudaBackend>(options, std::make_shared<JointLaunch>());
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
