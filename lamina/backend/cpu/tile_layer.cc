// Passes onto the kernels of kernels.h, with the scratch that they need.
#include "lamina/backend/cpu/tile_layer.h"

#include <fmt/format.h>

#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/requirements.h"

namespace lamina::cpu {
namespace {

// Picks of vectors of `columns` columns: of each as many as the depth of a block, and their count.
int64_t PicksFor(const ScratchSizes& sizes, int64_t columns, int64_t lanes) {
  return sizes.columns / lanes + CeilDivide(columns, lanes);
}

template <class T>
ScratchBuffer<T> ScratchOf(const LayerPlanRequest& request, const PassPlans& plans, const KernelTable<T>& kernels) {
  const TileShape shape = kernels.shape;
  const int64_t batch = request.max_batch;
  const int64_t inputs = request.layer.inputs;
  const int64_t outputs = request.layer.outputs;
  ScratchSizes sizes = ScratchFor(outputs, batch, inputs, shape, plans[0].budget);
  if (batch >= outputs) {  // the weights may be packed instead; else a panel of them a thread
    sizes = LargestOf(sizes, ScratchFor(batch, outputs, inputs, shape, plans[0].budget));
  } else {  // those that stay in the second-level cache
    const int64_t depth = std::min(inputs, plans[0].budget.depth);
    const int64_t panel = shape.columns() * depth;
    sizes.columns = std::max(sizes.columns, panel + std::min(outputs * depth, plans[0].budget.column_block));
    // Smaller tiles (CacheBudget::tile_vectors) have smaller panels, of which more may stand together.
    const int64_t together = std::max(panel, std::min(kMostPanelsTogether * panel, plans[0].budget.column_block / 4));
    sizes.columns = std::max(sizes.columns, plans[0].most_threads * together);
  }
  if (request.training) {
    sizes = LargestOf(sizes, ScratchFor(batch, inputs, outputs, shape, plans[1].budget));
    sizes = LargestOf(sizes, ScratchFor(outputs, inputs, batch, shape, plans[2].budget));
  }
  // A weight that is not finite would make the result depend on whether its zero input was left out.
  if (request.layer.synapse == Synapse::kDot && !request.any_slicing) {
    const TileShape picking = kernels.picking_shape;
    sizes = LargestOf(sizes, ScratchFor(outputs, batch, inputs, picking, plans[0].budget));
    sizes = LargestOf(sizes, ScratchFor(batch, outputs, inputs, picking, plans[0].budget));  // zeros of the weights
    if (request.training) {
      sizes = LargestOf(sizes, ScratchFor(outputs, inputs, batch, picking, plans[2].budget));
    }
    const int64_t columns = std::max(batch, outputs);
    sizes.picks = PicksFor(sizes, request.training ? std::max(columns, inputs) : columns, picking.lanes);
  }
  const bool scales = request.training && SynapseScalesDelta(request.layer.synapse);
  return ScratchBuffer<T>(sizes, scales ? batch * outputs : 0);
}

Verdict TilesAccept(const LayerPlanRequest& request) {
  if (request.precision == Precision::kBFloat16) {
    return Verdict::No("tiles are computed from whole operands, not bf16");
  }
  return request.dtype == DType::kF32 || request.dtype == DType::kF64
             ? ExactInPlaceOf(request.precision)
             : Verdict::No(fmt::format("tiles are computed in f32 and f64, not {}", DTypeName(request.dtype)));
}

std::unique_ptr<PreparedLayer> MakeTileLayer(const LayerPlanRequest& request, const PassPlans& plans) {
  return DispatchFloat(request.dtype, [&]<class T>(T) -> std::unique_ptr<PreparedLayer> {
    return std::make_unique<TileLayer<T>>(request, plans);
  });
}

}  // namespace

template <class T>
TileLayer<T>::TileLayer(const LayerPlanRequest& request, const PassPlans& plans)
    : request_(request),
      plans_(plans),
      kernels_(Kernels<T>()),
      passes_(kernels_.synapses[static_cast<size_t>(request.layer.synapse)]),
      scratch_(ScratchOf<T>(request, plans, kernels_)) {}

template <class T>
void TileLayer<T>::Run(const ForwardTask<T>& task) noexcept {
  const int64_t batch = task.args->x.rows;
  const auto kernel = UsesDots(batch) ? passes_.forward_dots : passes_.forward;
  RunTeam(ThreadsFor(Pass::kForward, batch), [&](Team team) { kernel(task, team); });
}

template <class T>
void TileLayer<T>::Run(const InputGradientTask<T>& task) noexcept {
  RunTeam(ThreadsFor(Pass::kInputGradient, task.args->delta.rows),
          [&](Team team) { passes_.input_gradient(task, team); });
}

template <class T>
void TileLayer<T>::Forward(const ForwardArgs& args) noexcept {
  Run(TaskOf(args));
}

template <class T>
void TileLayer<T>::InputGradient(const InputGradientArgs& args) noexcept {
  Run(TaskOf(args));
}

template <class T>
bool TileLayer<T>::FindsSlopes() const {
  const Activation& activation = request_.layer.activation;
  return activation.slope_needs_input() && activation.kind() != Activation::kCustom;
}

template <class T>
void TileLayer<T>::ForwardKeeping(const ForwardArgs& args, const MatrixView& slopes) noexcept {
  ForwardTask<T> task = TaskOf(args);
  task.slopes = &slopes;
  Run(task);
}

template <class T>
void TileLayer<T>::InputGradientTimes(const InputGradientArgs& args, const ConstMatrixView& slopes) noexcept {
  InputGradientTask<T> task = TaskOf(args);
  task.slopes = &slopes;
  Run(task);
}

template <class T>
void TileLayer<T>::WeightGradient(const WeightGradientArgs& args) noexcept {
  const WeightGradientTask<T> task = TaskOf(args);
  RunTeam(ThreadsFor(Pass::kWeightGradient, args.x.rows), [&](Team team) { passes_.weight_gradient(task, team); });
}

template <class T>
std::string TileLayer<T>::Describe() const {
  return fmt::format("cpu: {} {}x{} tile, {}, {}{} threads", SynapseName(request_.layer.synapse), kernels_.shape.rows,
                     kernels_.shape.columns(), kernels_.target,
                     UsesDots(request_.max_batch) ? "unpacked forward, " : "",
                     ThreadsFor(Pass::kForward, request_.max_batch));
}

template <class T>
bool TileLayer<T>::UsesDots(int64_t batch) const {
  const std::string& kernel = PlanOf(Pass::kForward).kernel;
  return kernel == "dots" || (kernel != "tile" && (batch < 12 || request_.layer.outputs < 24));
}

template <class T>
ForwardTask<T> TileLayer<T>::TaskOf(const ForwardArgs& args) const {
  return {&args, &request_.layer.activation, scratch_.get(), PlanOf(Pass::kForward).budget};
}

template <class T>
InputGradientTask<T> TileLayer<T>::TaskOf(const InputGradientArgs& args) const {
  return {&args, scratch_.get(), PlanOf(Pass::kInputGradient).budget};
}

template <class T>
WeightGradientTask<T> TileLayer<T>::TaskOf(const WeightGradientArgs& args) const {
  return {&args, NumbersOf<T>(args.rule, true), NumbersOf<T>(args.rule, false), scratch_.get(),
          PlanOf(Pass::kWeightGradient).budget};
}

template class TileLayer<float>;
template class TileLayer<double>;

CpuImplementation TileImplementation() { return {"tile", &TilesAccept, &MakeTileLayer, &TileCandidates}; }

}  // namespace lamina::cpu
