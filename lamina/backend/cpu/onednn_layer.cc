// Dot layers in f32 by oneDNN: the products of the passes whose plan says so, where it takes them; tiles for the rest.
#include <fmt/format.h>

#include "lamina/backend/cpu/cpu_backend.h"
#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/cpu/onednn_matmul.h"
#include "lamina/backend/cpu/tile_layer.h"
#include "lamina/backend/host_backend.h"

namespace lamina::cpu {
namespace {

constexpr std::string_view kOnednn = "onednn";

class OnednnLayer final : public PreparedLayer {
 public:
  OnednnLayer(const LayerPlanRequest& request, const PassPlans& plans)
      : tiles_(request, plans), fuses_(OnednnMatmul::Fuses(request.layer.activation)) {}

  void Forward(const ForwardArgs& args) noexcept override {
    const bool fused = fuses_ && args.z.empty();
    const MatrixView& z = args.z.empty() ? args.a : args.z;
    if (!Run(Pass::kForward, args.x.rows,
             {DenseOf(args.x), TurnedOf(args.weights), fused ? args.bias : nullptr,
              fused ? &tiles_.request().layer.activation : nullptr, z})) {
      tiles_.Forward(args);
    } else if (!fused) {
      RunTeam(tiles_.ThreadsFor(Pass::kForward, args.x.rows),
              [&](Team team) { kernels_.activate(tiles_.TaskOf(args), team); });
    }
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    if (!Run(Pass::kInputGradient, args.delta.rows,
             {DenseOf(args.delta), DenseOf(args.weights), nullptr, nullptr, args.out})) {
      tiles_.InputGradient(args);
      return;
    }
    RunTeam(tiles_.ThreadsFor(Pass::kInputGradient, args.delta.rows),
            [&](Team team) { kernels_.multiply_slope(tiles_.TaskOf(args), team); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    const MatrixView gradient = ViewOf(static_cast<float*>(args.weights.gradient), args.delta.cols, args.x.cols);
    if (!Run(Pass::kWeightGradient, args.x.rows, {TurnedOf(args.delta), DenseOf(args.x), nullptr, nullptr, gradient})) {
      tiles_.WeightGradient(args);
      return;
    }
    RunTeam(tiles_.ThreadsFor(Pass::kWeightGradient, args.x.rows),
            [&](Team team) { kernels_.update(tiles_.TaskOf(args), team); });
  }

  std::string Describe() const override {
    return UsesOnednn(Pass::kForward) ? fmt::format("cpu: {}, {} threads", OnednnDescription(),
                                                    tiles_.ThreadsFor(Pass::kForward, tiles_.request().max_batch))
                                      : tiles_.Describe();
  }

 private:
  // to = a b + bias, and the activation: null where not fused.
  struct Work {
    DnnMatrix a, b;
    const void* bias;
    const Activation* activation;
    MatrixView to;
  };

  static DnnMatrix DenseOf(const ConstMatrixView& m) { return {m.data, m.rows, m.cols, m.stride, 1}; }
  static DnnMatrix TurnedOf(const ConstMatrixView& m) { return {m.data, m.cols, m.rows, 1, m.stride}; }

  bool UsesOnednn(Pass pass) const { return tiles_.PlanOf(pass).kernel == kOnednn; }

  bool Run(Pass pass, int64_t batch, const Work& work) noexcept {
    if (!UsesOnednn(pass)) {
      return false;
    }
    const ThreadCountScope scope(tiles_.ThreadsFor(pass, batch));
    return matmul_.Run(work.a, work.b, work.bias, work.activation, work.to);
  }

  TileLayer<float> tiles_;
  const KernelTable<float>& kernels_ = Kernels<float>();
  OnednnMatmul matmul_;
  bool fuses_;
};

Verdict OnednnAccepts(const LayerPlanRequest& request) {
  if (!OnednnMatmul::Available()) {
    return Verdict::No("this lamina was built without oneDNN");
  }
  if (IsDistance(request.layer.synapse)) {
    return Verdict::No(
        fmt::format("the oneDNN kernel computes dot layers only, not {}", SynapseName(request.layer.synapse)));
  }
  if (request.dtype != DType::kF32) {
    return Verdict::No("the oneDNN kernel computes in f32 only");
  }
  if (request.precision == Precision::kBFloat16) {
    return Verdict::No("the oneDNN kernel computes in full f32");
  }
  return request.any_slicing ? Verdict::No("the oneDNN kernel does not promise the same bits for every slicing")
                             : Verdict::Yes();
}

std::unique_ptr<PreparedLayer> MakeOnednnLayer(const LayerPlanRequest& request, const PassPlans& plans) {
  return std::make_unique<OnednnLayer>(request, plans);
}

std::vector<Candidate> OnednnCandidates(const Problem& problem, int threads) {
  std::vector<Candidate> candidates;
  for (const int64_t team : CandidateTeams(problem, threads)) {
    candidates.push_back({0.4, {.kernel = std::string(kOnednn), .threads = team}});
  }
  return candidates;
}

}  // namespace

CpuImplementation OnednnImplementation() {
  return {"oneDNN product", kOnednn, true, &OnednnAccepts, &MakeOnednnLayer, &OnednnCandidates};
}

}  // namespace lamina::cpu
