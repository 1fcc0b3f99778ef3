// Backend "cpu": plans each layer onto the vector kernels (or oneDNN), owns their scratch and decides on
// threads.
#include "lamina/backend/cpu/cpu_backend.h"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>

#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/host_backend.h"
#include "lamina/base/buffer.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

using cpu::Team;

// A parallel region pays from about this many multiply-adds a thread on.
constexpr int64_t kWorkPerThread = 64 * 1024;

template <class Fn>
void RunTeam(int threads, const Fn& fn) noexcept {
  if (threads == 1) {
    fn(Team{});
    return;
  }
#pragma omp parallel num_threads(threads)
  fn(Team{omp_get_thread_num(), omp_get_num_threads()});
}

// Scratch for every pass of a layer: one buffer, as passes run one after the other.
template <class T>
class ScratchBuffer {
 public:
  ScratchBuffer(const LayerPlanRequest& request, const cpu::KernelTable<T>& kernels,
                cpu::CacheBudget budget) {
    const int64_t batch = request.max_batch;
    const int64_t inputs = request.layer.inputs;
    const int64_t outputs = request.layer.outputs;
    Include(cpu::ScratchFor(outputs, batch, inputs, kernels.shape, budget));
    if (request.training) {
      Include(cpu::ScratchFor(batch, inputs, outputs, kernels.shape, budget));
      Include(cpu::ScratchFor(outputs, inputs, batch, kernels.shape, budget));
    }
    constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
    sizes_.rows = cpu::RoundUp(sizes_.rows, kLine);
    sizes_.columns = cpu::RoundUp(sizes_.columns, kLine);
    buffer_ =
        AlignedBuffer((sizes_.rows + sizes_.columns + sizes_.partial) * static_cast<int64_t>(sizeof(T)));
  }

  cpu::Scratch<T> get() const {
    T* const base = buffer_.template As<T>().data();
    return {base, base + sizes_.rows, base + sizes_.rows + sizes_.columns};
  }

 private:
  void Include(const cpu::ScratchSizes& sizes) {
    sizes_.rows = std::max(sizes_.rows, sizes.rows);
    sizes_.columns = std::max(sizes_.columns, sizes.columns);
    sizes_.partial = std::max(sizes_.partial, sizes.partial);
  }

  cpu::ScratchSizes sizes_;
  AlignedBuffer buffer_;
};

template <class T>
cpu::UpdateConstants<T> ConstantsOf(const UpdateRule* rule, bool decay) {
  cpu::UpdateConstants<T> constants{};
  if (rule == nullptr) {
    return constants;
  }
  constants.eta = static_cast<T>(rule->learning_rate);
  constants.alpha = static_cast<T>(rule->momentum);
  constants.lambda = static_cast<T>(decay ? rule->weight_decay : 0.0);
  if (rule->kind == UpdateKind::kAdam) {
    const auto step = static_cast<double>(rule->step);
    constants.beta1 = static_cast<T>(rule->beta1);
    constants.beta2 = static_cast<T>(rule->beta2);
    constants.rate = static_cast<T>(rule->learning_rate / (1.0 - std::pow(rule->beta1, step)));
    constants.root = static_cast<T>(1.0 / std::sqrt(1.0 - std::pow(rule->beta2, step)));
    constants.epsilon = static_cast<T>(rule->epsilon);
  }
  return constants;
}

template <class T>
class OwnLayer final : public PreparedLayer {
 public:
  OwnLayer(const LayerPlanRequest& request, int threads)
      : request_(request),
        threads_(threads),
        kernels_(cpu::Kernels<T>()),
        budget_(cpu::MachineBudget(sizeof(T))),
        scratch_(request, kernels_, budget_) {}

  void Forward(const ForwardArgs& args) noexcept override {
    const cpu::ForwardTask<T> task{&args, &request_.layer.activation, scratch_.get(), budget_};
    const auto kernel = UsesDots(args.x.rows) ? kernels_.forward_dots : kernels_.forward;
    RunTeam(ThreadsFor(args.x.rows), [&](Team team) { kernel(task, team); });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    const cpu::InputGradientTask<T> task{&args, scratch_.get(), budget_};
    RunTeam(ThreadsFor(args.delta.rows), [&](Team team) { kernels_.input_gradient(task, team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    const cpu::WeightGradientTask<T> task{&args, ConstantsOf<T>(args.rule, true),
                                          ConstantsOf<T>(args.rule, false), scratch_.get(), budget_};
    RunTeam(ThreadsFor(args.x.rows), [&](Team team) { kernels_.weight_gradient(task, team); });
  }

  std::string Describe() const override {
    return fmt::format("cpu: dot {}x{} tile, {}, {}{} threads", kernels_.shape.rows, kernels_.shape.columns(),
                       kernels_.target, UsesDots(request_.max_batch) ? "unpacked forward, " : "",
                       ThreadsFor(request_.max_batch));
  }

 private:
  bool UsesDots(int64_t batch) const { return batch < 12 || request_.layer.outputs < 24; }

  int ThreadsFor(int64_t batch) const {
    const int64_t work = std::max<int64_t>(1, batch) * request_.layer.weight_count();
    return static_cast<int>(std::clamp<int64_t>(work / kWorkPerThread, 1, threads_));
  }

  LayerPlanRequest request_;
  int threads_;
  const cpu::KernelTable<T>& kernels_;
  cpu::CacheBudget budget_;
  ScratchBuffer<T> scratch_;
};

class CpuBackend final : public HostBackend {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : HostBackend(ResolveThreads(options.threads)), kernel_(options.kernel) {}

  std::string_view name() const override { return "cpu"; }

  std::string Describe() const override {
    const std::string onednn = OnednnDescription();
    return fmt::format("cpu: {}, {} threads{}", cpu::Kernels<float>().target, threads(),
                       onednn.empty() ? "" : ", " + onednn);
  }

  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(request);
    return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedLayer> {
      return std::make_unique<OwnLayer<T>>(request, threads());
    });
  }

 private:
  std::string kernel_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(const BackendOptions& options) {
  const std::vector<std::string> known{"auto", "own", "onednn"};
  if (std::find(known.begin(), known.end(), options.kernel) == known.end()) {
    throw Error(
        ErrorCode::kInvalidArgument, "unknown kernel of backend cpu",
        {.value = options.kernel, .remedy = DidYouMean(options.kernel, known) + "Known: auto, own, onednn."});
  }
  return std::make_unique<CpuBackend>(options);
}

}  // namespace lamina
