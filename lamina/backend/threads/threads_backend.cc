// Backend "threads": each thread computes the partial gradient of a shard of the minibatch by the plain loops. Partial
// gradients are then summed in thread order, so the result depends on the thread count only.
#include "lamina/backend/threads/threads_backend.h"

#include <fmt/format.h>

#include "lamina/backend/host_backend.h"
#include "lamina/backend/requirements.h"
#include "lamina/backend/serial/plain_loops.h"
#include "lamina/base/buffer.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

struct Range {
  int64_t begin;
  int64_t end;
};

Range Shard(int64_t count, int shards, int index) { return {count * index / shards, count * (index + 1) / shards}; }

class ThreadsLayer final : public PreparedLayer {
 public:
  ThreadsLayer(const LayerPlanRequest& request, int threads) : request_(request), threads_(threads) {
    if (request.training) {  // thread 0 sums into the caller's gradient
      partial_ = AlignedBuffer((threads - 1) * request.layer.parameter_count() * DTypeSize_bytes(request.dtype));
    }
  }

  void Forward(const ForwardArgs& args) noexcept override {
    plain_loops::DispatchAny(request_, [&]<class S, class E>(S, E) {
      ForShards([&](int index) {
        const Range shard = Shard(args.x.rows, threads_, index);
        plain_loops::Forward<S, E>(args, request_.layer.activation, shard.begin, shard.end);
      });
    });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    plain_loops::Dispatch(request_, [&]<class S, class T>(S, T) {
      ForShards([&](int index) {
        const Range shard = Shard(args.delta.rows, threads_, index);
        plain_loops::InputGradient<S, T>(args, shard.begin, shard.end);
      });
    });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    plain_loops::Dispatch(request_, [&]<class S, class T>(S, T) { WeightGradientOf<S, T>(args); });
  }

  std::string Describe() const override {
    return fmt::format("threads: minibatch in {} shards, gradients reduced", threads_);
  }

 private:
  template <class S, class T>
  void WeightGradientOf(const WeightGradientArgs& args) noexcept {
    const int64_t weights = request_.layer.weight_count();
    const bool bias = args.bias.gradient != nullptr;
    const int64_t parameters = weights + (bias ? request_.layer.outputs : 0);
    T* const partial = partial_.As<T>().data();
    auto* const weight_gradient = static_cast<T*>(args.weights.gradient);
    auto* const bias_gradient = static_cast<T*>(args.bias.gradient);
    ForShards([&](int index) {
      const Range shard = Shard(args.x.rows, threads_, index);
      T* mine = index == 0 ? weight_gradient : partial + (index - 1) * parameters;
      T* mine_bias = bias ? (index == 0 ? bias_gradient : mine + weights) : nullptr;
      plain_loops::WeightGradient<S, T>(args, shard.begin, shard.end, mine, mine_bias);
    });
    ForShards([&](int index) {
      const Range w = Shard(weights, threads_, index);
      const Range b = Shard(request_.layer.outputs, threads_, index);
      Reduce(weight_gradient, partial, parameters, w);
      if (bias) {
        Reduce(bias_gradient, partial + weights, parameters, b);
      }
      if (args.rule != nullptr) {
        UpdateArrays<T>(*args.rule, true, args.weights, w.begin, w.end);
        if (args.bias.value != nullptr) {
          UpdateArrays<T>(*args.rule, false, args.bias, b.begin, b.end);
        }
      }
    });
  }

  // One shard a thread; a team smaller than asked for (a thread limit) takes the shards in turn, to the same bits.
  template <class Fn>
  void ForShards(const Fn& fn) const noexcept {
    RunTeam(threads_, [&](Team team) {
      for (int index = team.thread; index < threads_; index += team.size) {
        fn(index);
      }
    });
  }

  template <class T>
  void Reduce(T* total, const T* partial, int64_t stride, Range range) const noexcept {
    for (int thread = 1; thread < threads_; ++thread) {
      const T* part = partial + (thread - 1) * stride;
      for (int64_t n = range.begin; n < range.end; ++n) {
        total[n] += part[n];
      }
    }
  }

  LayerPlanRequest request_;
  int threads_;
  AlignedBuffer partial_;
};

class ThreadsBackend final : public HostBackend {
 public:
  explicit ThreadsBackend(int threads) : HostBackend(threads) {}
  std::string_view name() const override { return "threads"; }
  std::string Describe() const override { return fmt::format("threads: minibatch sharded over {} threads", threads()); }
  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    return std::make_unique<ThreadsLayer>(request, threads());
  }
};

}  // namespace

std::unique_ptr<Backend> MakeThreadsBackend(const BackendOptions& options) {
  return std::make_unique<ThreadsBackend>(ResolveThreads(options.threads));
}

}  // namespace lamina
