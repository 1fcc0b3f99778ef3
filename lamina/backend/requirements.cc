// Types, passes and the range of integer sums.
#include "lamina/backend/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lamina {
namespace {

// The largest magnitude of an integer type.
double LargestOf(DType dtype) {
  return dtype == DType::kU8 ? 255.0 : std::ldexp(1.0, static_cast<int>(8 * DTypeSize_bytes(dtype) - 1));
}

}  // namespace

Verdict CheckDType(const Problem& problem) {
  const bool full = problem.dtype == DType::kF32 || problem.dtype == DType::kF64;
  if (!full && problem.pass != Pass::kForward) {
    return Verdict::No(fmt::format(
        "{} is a type to store and compare in, without gradients: train in f32 or f64 and convert the weights",
        DTypeName(problem.dtype)));
  }
  return Verdict::Yes();
}

Verdict ExactInPlaceOf(Precision precision) {
  return precision == Precision::kBFloat16x3 ? Verdict::YesBut("bf16x3 without AMX tiles: computed as exact, no faster")
                                             : Verdict::Yes();
}

void RequireSupport(const Backend& backend, const LayerPlanRequest& request) {
  if (request.layer.trained_radius) {
    throw Error(ErrorCode::kUnsupported, "a trained radius belongs to a network; a layer on its own has one radius",
                {.value = NeuronText(request.layer)});
  }
  for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
    if (pass != Pass::kForward && !request.training) {
      continue;
    }
    const Verdict verdict =
        backend.Supports({request.layer, pass, request.max_batch, request.dtype, request.precision});
    if (!verdict) {
      throw Error(ErrorCode::kUnsupported, verdict.reason);
    }
  }
  RequireSumsFit(request);
}

double LargestSum(const LayerPlanRequest& request) {
  const double x = request.largest_x < 0 ? LargestOf(request.dtype) : request.largest_x;
  const double w = request.largest_w < 0 ? LargestOf(request.dtype) : request.largest_w;
  const double difference = request.dtype == DType::kU8 ? std::max(x, w) : x + w;
  const double term = VisitSynapse(request.layer.synapse, [&]<class S>(S) {
    using Term = typename S::Term;  // of the largest operands
    return Term::kIsDistance ? Term::Accumulate(difference, 0.0, 0.0) : Term::Accumulate(x, w, 0.0);
  });
  return term * static_cast<double>(request.layer.inputs);
}

void RequireSumsFit(const LayerPlanRequest& request) {
  if (!IsInteger(request.dtype)) {
    return;
  }
  const DType sum = SumType(request.dtype);
  constexpr double kRounding = 1 + 1e-12;  // of the bound itself
  if (kRounding * LargestSum(request) < std::ldexp(1.0, sum == DType::kI32 ? 31 : 63)) {
    return;
  }
  const auto magnitude = [&](double declared) {
    return declared < 0 ? fmt::format("{:.0f} (whatever {} holds)", LargestOf(request.dtype), DTypeName(request.dtype))
                        : fmt::format("{:.0f}", declared);
  };
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{} sums of {} over {} inputs may not fit into {}: |x| up to {}, |w| up to {}",
                          SynapseName(request.layer.synapse), DTypeName(request.dtype), request.layer.inputs,
                          DTypeName(sum), magnitude(request.largest_x), magnitude(request.largest_w)),
              {.remedy = request.largest_x < 0 || request.largest_w < 0
                             ? "State the largest magnitudes if the data have smaller ones, or convert to f64."
                             : "Convert to f64."});
}

}  // namespace lamina
