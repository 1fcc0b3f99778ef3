// Text forms of synapses, passes and problems.
#include "lamina/neuron/problem.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr Named<Pass> kPasses[] = {
    {"forward", Pass::kForward}, {"input_gradient", Pass::kInputGradient}, {"weight_gradient", Pass::kWeightGradient}};
constexpr std::string_view kBias = "-bias";
constexpr std::string_view kNoBias = "-nobias";
constexpr std::string_view kRadius = "-radius";

struct Preset {
  std::string_view name;
  std::string_view neuron;
};
constexpr std::array<Preset, 2> kPresets{{{"rbf", "l1-triangle"}, {"mul", "dot-tanh"}}};

// Behind the type: "-fast", "-bf16", nothing for exact sums.
std::string SuffixOf(Precision precision) {
  return precision == Precision::kExact ? "" : fmt::format("-{}", NameOf(precision, kPrecisions));
}

// Takes `suffix` off the end of text, if it is there.
bool TakeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) {
    return false;
  }
  text.remove_suffix(suffix.size());
  return true;
}

// A preset's name at the front written out.
std::string ExpandPreset(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("(-"));
  for (const Preset& preset : kPresets) {
    if (preset.name == name) {
      return std::string(preset.neuron) + std::string(text.substr(name.size()));
    }
  }
  return std::string(text);
}

[[noreturn]] void ThrowBad(std::string_view text, std::string what) {
  throw Error(ErrorCode::kInvalidArgument, std::move(what),
              {.value = std::string(text), .remedy = "Write for example dot-tanh:f32:forward:128x1024x784."});
}

}  // namespace

std::string_view SynapseName(Synapse synapse) {
  return VisitSynapse(synapse, []<class S>(S) { return std::string_view(S::kName); });
}

std::vector<std::string> SynapseNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::tuple_size_v<formulas::Synapses>; ++i) {
    names.emplace_back(SynapseName(static_cast<Synapse>(i)));
  }
  return names;
}

Synapse ParseSynapse(std::string_view name) {
  return static_cast<Synapse>(IndexOfName(name, SynapseNames(), "unknown synapse"));
}

bool IsDistance(Synapse synapse) {
  return VisitSynapse(synapse, []<class S>(S) { return S::Term::kIsDistance; });
}

bool SynapseNeedsDistance(Synapse synapse) {
  return VisitSynapse(synapse, []<class S>(S) { return S::kNeedsDistance; });
}

bool SynapseScalesDelta(Synapse synapse) {
  return VisitSynapse(synapse, []<class S>(S) { return S::kScalesDelta; });
}

std::string_view PassName(Pass pass) { return NameOf(pass, kPasses); }

DType OutputType(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kI64 || dtype == DType::kI32 ? DType::kF64 : DType::kF32;
}

DType SumType(DType dtype) {
  return !IsInteger(dtype) ? OutputType(dtype) : DTypeSize_bytes(dtype) == 1 ? DType::kI32 : DType::kI64;
}

Verdict CheckNeuron(const LayerSpec& layer) {
  if (!layer.trained_radius) {
    return Verdict::Yes();
  }
  if (!(layer.activation.radius() > 0)) {
    return Verdict::No(
        fmt::format("{} has no radius to train; triangle, gaussian and laplace have", layer.activation.Text()));
  }
  return layer.bias ? Verdict::No("a neuron with a trained radius takes no bias") : Verdict::Yes();
}

LayerSpec ParseNeuron(std::string_view text, std::span<const Activation> custom) {
  const std::string expanded = ExpandPreset(text);
  std::string_view neuron = expanded;
  LayerSpec layer;
  layer.trained_radius = TakeSuffix(neuron, kRadius);
  const bool bias = TakeSuffix(neuron, kBias);
  const bool no_bias = !bias && TakeSuffix(neuron, kNoBias);
  layer.trained_radius = TakeSuffix(neuron, kRadius) || layer.trained_radius;  // the suffixes in either order
  const size_t dash = neuron.find('-');
  if (dash == std::string_view::npos) {
    throw Error(
        ErrorCode::kInvalidArgument, "a neuron is written synapse-activation",
        {.value = std::string(text), .remedy = "Write for example dot-tanh, l1-triangle(radius=12), rbf or mul."});
  }
  layer.synapse = ParseSynapse(neuron.substr(0, dash));
  layer.activation = Activation::Parse(neuron.substr(dash + 1), custom);
  layer.bias = bias || (!no_bias && !IsDistance(layer.synapse) && !layer.trained_radius);
  if (const Verdict verdict = CheckNeuron(layer); !verdict) {
    throw Error(ErrorCode::kInvalidArgument, verdict.reason, {.value = std::string(text)});
  }
  return layer;
}

bool GivesRadius(std::string_view neuron) { return neuron.find("radius=") != std::string_view::npos; }

std::string NeuronText(const LayerSpec& layer) {
  const bool expected = !IsDistance(layer.synapse) && !layer.trained_radius;
  return fmt::format("{}-{}{}{}", SynapseName(layer.synapse), layer.activation.Text(),
                     layer.bias == expected ? "" : (layer.bias ? kBias : kNoBias), layer.trained_radius ? kRadius : "");
}

std::string Problem::Text() const {
  return fmt::format("{}:{}{}:{}:{}x{}x{}", NeuronText(layer), DTypeName(dtype), SuffixOf(precision), PassName(pass),
                     batch, layer.outputs, layer.inputs);
}

Problem Problem::Parse(std::string_view text, std::span<const Activation> custom) {
  const std::vector<std::string_view> parts = SplitText(text, ':');
  if (parts.size() != 4) {
    ThrowBad(text, "a problem has four parts: neuron, data type, pass, shape");
  }
  Problem problem;
  problem.layer = ParseNeuron(parts[0], custom);
  if (problem.layer.trained_radius) {
    ThrowBad(text, "a trained radius belongs to a network's layer, not to a pass of one");
  }
  std::string_view dtype = parts[1];
  for (const Named<Precision>& row : kPrecisions) {
    if (row.value != Precision::kExact && TakeSuffix(dtype, SuffixOf(row.value))) {
      problem.precision = row.value;
      break;
    }
  }
  problem.dtype = ParseDType(dtype);
  problem.pass = ParseName(parts[2], kPasses, fmt::format("unknown pass in {}", text));
  const std::vector<std::string_view> shape = SplitText(parts[3], 'x');
  std::array<int64_t*, 3> sizes{&problem.batch, &problem.layer.outputs, &problem.layer.inputs};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto value = shape.size() == 3 ? ParseInteger(shape[i]) : std::nullopt;
    if (!value || *value < 0) {
      ThrowBad(text, "a shape is three sizes, batch x outputs x inputs");
    }
    *sizes[i] = *value;
  }
  return problem;
}

}  // namespace lamina
