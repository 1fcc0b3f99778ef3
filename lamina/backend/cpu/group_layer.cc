// Forward layers on halves and integers, or with Precision::kFast. Picks how sums of a storage type are computed, one
// widened element or a group of neighbors in a lane, and runs it.
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "lamina/backend/cpu/implementations.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/backend/cpu/register_work.h"
#include "lamina/backend/cpu/scratch.h"
#include "lamina/backend/requirements.h"
#include "lamina/base/names.h"

namespace lamina::cpu {
namespace {

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kWide: return "widened";
    case Method::kPairs: return "pairs";
    case Method::kQuads: return "quads";
    case Method::kSad: return "sums of absolute differences";
    case Method::kFast: break;
  }
  return "fast";
}

// How the sums of 16-bit integers fit into less than i64.
struct NarrowSums {
  bool in_i32;           // the sums
  bool differences_i16;  // and the differences

  explicit NarrowSums(const LayerPlanRequest& request)
      : in_i32(LargestSum(request) < std::ldexp(1.0, 31)),
        differences_i16(request.largest_x >= 0 && request.largest_w >= 0 &&
                        request.largest_x + request.largest_w < 32768) {}
};

// T: the lanes.
template <class T>
class GroupLayer final : public PreparedLayer {
 public:
  GroupLayer(const LayerPlanRequest& request, Method method, const PassPlan& plan)
      : request_(request),
        method_(method),
        plan_(plan),
        kernel_(GroupKernels<T>().find(request.layer.synapse, request.dtype, method)),
        lanes_(CeilDivide(request.layer.inputs, kernel_.x.group)),
        scratch_(ScratchFor(request.layer.outputs, request.max_batch, lanes_, GroupKernels<T>().shape, plan.budget),
                 request.layer.outputs + request.max_batch + GroupKernels<T>().shape.columns()) {
    Check(kernel_.forward != nullptr, "GroupLayer: no such kernel");
  }

  void Forward(const ForwardArgs& args) noexcept override {
    EncodedOperands<T> encoded{kernel_.weights, kernel_.x, lanes_, ReadsInPlace(args.weights)};
    encoded.weights.length = encoded.x.length = args.x.cols;
    const ForwardTask<T> task{&args, &request_.layer.activation, scratch_.get(), plan_.budget, &encoded};
    RunTeam(plan_.ThreadsFor(args.x.rows, request_.layer), [&](Team team) { kernel_.forward(task, team); });
  }
  // Supports() has declined them.
  void InputGradient(const InputGradientArgs&) noexcept override { Check(false, "GroupLayer: no gradients"); }
  void WeightGradient(const WeightGradientArgs&) noexcept override { Check(false, "GroupLayer: no gradients"); }

  std::string Describe() const override {
    const TileShape& shape = GroupKernels<T>().shape;
    return fmt::format("cpu: {} {} {}, {}x{} tile, {}, {} threads", SynapseName(request_.layer.synapse),
                       DTypeName(request_.dtype), MethodName(method_), shape.rows, shape.columns(),
                       GroupKernels<T>().target, plan_.ThreadsFor(request_.max_batch, request_.layer));
  }

 private:
  // Whole lanes in every row, where lanes can be loaded.
  bool ReadsInPlace(const ConstMatrixView& weights) const {
    constexpr auto kLane = static_cast<int64_t>(sizeof(T));
    const Encoding<T>& encoding = kernel_.weights;
    return encoding.same_bits && weights.cols % encoding.group == 0 &&
           weights.stride * encoding.element_bytes % kLane == 0 &&
           reinterpret_cast<uintptr_t>(weights.data) % sizeof(T) == 0;
  }

  LayerPlanRequest request_;
  Method method_;
  PassPlan plan_;
  GroupKernel<T> kernel_;
  int64_t lanes_;
  ScratchBuffer<T> scratch_;
};

template <class T>
bool Has(const LayerPlanRequest& request, Method method) {
  return GroupKernels<T>().find(request.layer.synapse, request.dtype, method).forward != nullptr;
}

bool IsFast(const LayerPlanRequest& request) {
  return request.precision == Precision::kFast && request.layer.synapse == Synapse::kL1 && !request.training &&
         !IsInteger(request.dtype);
}

// The method for i8 and u8; its lanes are 64 bits for kSad, else 32.
Method ByteMethod(const LayerPlanRequest& request) {
  if (request.layer.synapse == Synapse::kL1) {
    return Method::kSad;
  }
  const bool quads = request.layer.synapse == Synapse::kDot && ApplyInstructionSets().used.byte_products &&
                     Has<int32_t>(request, Method::kQuads);
  return quads ? Method::kQuads : Method::kPairs;
}

// Calls fn(T{}, method) with the lanes and the method that the request is computed with.
template <class Fn>
auto WithMethod(const LayerPlanRequest& request, const Fn& fn) {
  const Synapse synapse = request.layer.synapse;
  switch (request.dtype) {
    case DType::kF64: return fn(double{}, Method::kFast);
    case DType::kI8:
    case DType::kU8: {
      const Method method = ByteMethod(request);
      return method == Method::kSad ? fn(int64_t{}, method) : fn(int32_t{}, method);
    }
    case DType::kI16: {
      const NarrowSums sums(request);
      if (sums.in_i32 && synapse == Synapse::kL1) {
        return fn(int32_t{}, Method::kWide);
      }
      const bool pairs = sums.in_i32 && (synapse == Synapse::kDot || sums.differences_i16);
      return pairs ? fn(int32_t{}, Method::kPairs) : fn(int64_t{}, Method::kWide);
    }
    case DType::kI32:
    case DType::kI64: return fn(int64_t{}, Method::kWide);
    default: break;
  }
  const bool pairs = request.dtype == DType::kBF16 && synapse == Synapse::kDot &&
                     ApplyInstructionSets().used.bf16_products && Has<float>(request, Method::kPairs);
  return fn(float{}, IsFast(request) ? Method::kFast : pairs ? Method::kPairs : Method::kWide);
}

template <class T>
RegisterWork WorkOf(T (*registers)(int64_t, T), int64_t synapses_per_lane, int64_t lanes) {
  return {[registers](int64_t rounds, double start) {
            return static_cast<double>(registers(rounds, static_cast<T>(start)));
          },
          kRegisterSums * lanes * synapses_per_lane};
}

Verdict GroupsAccept(const LayerPlanRequest& request) {
  const bool whole = request.dtype == DType::kF32 || request.dtype == DType::kF64;
  if (request.precision == Precision::kBFloat16 || (whole && !IsFast(request))) {
    return Verdict::No(fmt::format("groups are of narrower types and for fast sums, not for {} {}",
                                   NameOf(request.precision, kPrecisions), DTypeName(request.dtype)));
  }
  return ExactInPlaceOf(request.precision);
}

std::unique_ptr<PreparedLayer> MakeGroupLayer(const LayerPlanRequest& request, const PassPlans& plans) {
  return WithMethod(request, [&]<class T>(T, Method method) -> std::unique_ptr<PreparedLayer> {
    return std::make_unique<GroupLayer<T>>(request, method, plans[static_cast<size_t>(Pass::kForward)]);
  });
}

}  // namespace

CpuImplementation GroupImplementation() { return {"group", &GroupsAccept, &MakeGroupLayer, &TileCandidates}; }

RegisterWork RegisterWorkOf(const LayerPlanRequest& request) {
  ApplyInstructionSets();
  const auto synapse = static_cast<size_t>(request.layer.synapse);
  if (!GroupsAccept(request)) {
    return DispatchFloat(request.dtype, [&]<class T>(T) {
      return WorkOf(Kernels<T>().synapses[synapse].registers, 1, Kernels<T>().shape.lanes);
    });
  }
  return WithMethod(request, [&]<class T>(T, Method method) {
    const GroupTable<T>& table = GroupKernels<T>();
    const GroupKernel<T> kernel = table.find(request.layer.synapse, request.dtype, method);
    return WorkOf(kernel.registers, kernel.x.group, table.shape.lanes);
  });
}

}  // namespace lamina::cpu
