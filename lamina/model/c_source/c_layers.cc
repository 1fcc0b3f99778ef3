// A function a layer: sums over the inputs, neuron beside neuron, so that compilers make vectors of them.
#include "lamina/model/c_source/c_layers.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/half.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

constexpr int64_t kSkipFrom = 8;  // neurons of a layer that looks whether an input is 0 before it multiplies

// The share of weights that are not 0 up to which a layer has lists of them. Others are quicker in whole rows.
constexpr double kMostListed = 0.25;

// The smallest type of whole numbers up to `most`, and its bytes.
std::pair<const char*, int64_t> WholeType(int64_t most) {
  return most <= 0xFF ? std::pair{"uint8_t", 1} : most <= 0xFFFF ? std::pair{"uint16_t", 2} : std::pair{"uint32_t", 4};
}

// Weights that are not 0, neuron by neuron.
struct WeightList {
  std::vector<int64_t> inputs;
  std::vector<int64_t> begin;  // of a neuron; neurons + 1
};

// Empty where the layer is quicker in whole rows.
WeightList ListOf(const Network& network, size_t layer) {
  WeightList list;
  const LayerSpec& spec = network.layers()[layer];
  if (spec.synapse != Synapse::kDot || network.blocks(layer) > 1) {
    return list;
  }
  const Matrix weights = InDoubles(network.Weights(layer));
  for (int64_t j = 0; j < spec.outputs; ++j) {
    list.begin.push_back(std::ssize(list.inputs));
    for (int64_t k = 0; k < spec.inputs; ++k) {
      if (weights.Row<double>(j)[k] != 0) {
        list.inputs.push_back(k);
      }
    }
  }
  list.begin.push_back(std::ssize(list.inputs));
  const double most = kMostListed * static_cast<double>(spec.weight_count());
  return static_cast<double>(std::ssize(list.inputs)) <= most && !list.inputs.empty() ? list : WeightList();
}

class LayerWriter {
 public:
  LayerWriter(CWriter& out, CActivations& activations, const Network& network, size_t layer, WeightStorage weights,
              const std::string& prefix)
      : out_(out),
        spec_(network.layers()[layer]),
        blocks_(network.blocks(layer)),
        number_(layer + 1),
        prefix_(prefix),
        stored_(StoreLayer(network, layer, weights)),
        storage_(StoresWeights(spec_, weights) ? weights : WeightStorage::kExact),
        list_(ListOf(network, layer)) {
    const auto numbers = [&](const void* from, int64_t count) {
      std::vector<double> values;
      DispatchFloat(out.dtype(), [&]<class T>(T) {
        values.assign(static_cast<const T*>(from), static_cast<const T*>(from) + count);
      });
      return values;
    };
    if (const void* bias = network.Bias(layer); bias != nullptr) {
      bias_ = numbers(bias, blocks_ * spec_.outputs);
    }
    if (const void* radii = network.Radii(layer); radii != nullptr) {
      radii_ = numbers(radii, spec_.outputs);
    }
    activation_ = spec_.trained_radius ? spec_.activation.WithRadius(1) : spec_.activation;
    curve_ = activations.Function(activation_);
  }

  void Add() {
    if (activation_.is_softmax()) {
      AddSoftmax(out_);
    }
    AddParameters();
    const std::string weight = WeightText();
    const std::string member = blocks_ > 1 ? ", int member" : "";
    out_.Add("/* Layer {}: {} input{}, {} neuron{}, {}{} */\n", number_, spec_.inputs, Many(spec_.inputs),
             spec_.outputs, Many(spec_.outputs), CComment(NeuronText(spec_)),
             listed() ? "; lists of the weights that are not 0" : "");
    out_.Add("static void {}_layer{}(const {} *x, {} *a{}) {{\n  {}\n", prefix_, number_, out_.real(), out_.real(),
             member, listed() ? "uint32_t i;\n  int j;" : "int i, j;");
    listed() ? AddListedSums(weight) : AddSums(weight);
    AddFinish();
    out_.Add("}}\n\n");
    int64_t& terms = IsDistance(spec_.synapse) ? out_.work.differences : out_.work.products;
    terms += listed() ? std::ssize(list_.inputs) : spec_.weight_count();
    out_.work.curves += curve_.empty() && !activation_.is_softmax() ? 0 : spec_.outputs;
  }

 private:
  std::string Array(const char* what) const { return fmt::format("{}_{}{}", prefix_, what, number_); }
  std::string Real() const { return out_.real(); }
  bool listed() const { return !list_.inputs.empty(); }

  void AddParameters() {
    if (listed()) {
      AddList();
    }
    for (int64_t block = 0; !listed() && block < blocks_; ++block) {
      const std::string name = fmt::format("{}{}", Array("weights"), blocks_ > 1 ? fmt::format("_{}", block + 1) : "");
      AddWeights(name, block * spec_.outputs);
    }
    std::vector<double> scales(stored_.scales.begin(), stored_.scales.end());
    const int64_t width = blocks_ > 1 ? spec_.outputs : 0;
    if (!scales.empty()) {
      out_.AddNumbers(Array("scale"), scales, width);
    }
    if (!bias_.empty()) {
      out_.AddNumbers(Array("bias"), bias_, width);
    }
    if (!radii_.empty()) {
      out_.AddNumbers(Array("radius"), radii_);
    }
    if (blocks_ > 1) {
      out_.Add("static const {} (*const {}[{}])[{}] = {{", WeightType(), Array("weights"), blocks_, spec_.outputs);
      for (int64_t block = 0; block < blocks_; ++block) {
        out_.Add("{}{}_{}", block == 0 ? "" : block % 4 == 0 ? ",\n    " : ", ", Array("weights"), block + 1);
      }
      out_.Add("}};\n");
    }
    out_.Add("\n");
  }

  std::string WeightType() const {
    return storage_ == WeightStorage::kI8 ? "int8_t" : storage_ == WeightStorage::kExact ? Real() : "uint16_t";
  }

  // Weight k of a neuron, as it is stored.
  std::string TextOf(int64_t neuron, int64_t k) const {
    const Matrix& numbers = stored_.numbers;
    switch (storage_) {
      case WeightStorage::kI8: return std::to_string(numbers.Row<int8_t>(neuron)[k]);
      case WeightStorage::kBF16: return std::to_string(numbers.Row<BFloat16>(neuron)[k].bits);
      case WeightStorage::kF16: return std::to_string(numbers.Row<Float16>(neuron)[k].bits);
      default: break;
    }
    return DispatchFloat(out_.dtype(),
                         [&]<class T>(T) { return out_.Number(static_cast<double>(numbers.Row<T>(neuron)[k])); });
  }

  // Rows of neurons as rows of inputs: weight k of all neurons side by side.
  void AddWeights(const std::string& name, int64_t first) {
    std::vector<std::string> values;
    values.reserve(static_cast<size_t>(spec_.weight_count()));
    for (int64_t k = 0; k < spec_.inputs; ++k) {
      for (int64_t j = 0; j < spec_.outputs; ++j) {
        values.push_back(TextOf(first + j, k));
      }
    }
    out_.AddArray(WeightType(), name, values, spec_.outputs, DTypeSize_bytes(stored_.numbers.dtype()));
  }

  // The weights that are not 0, the input of each, and where those of a neuron begin.
  void AddList() {
    std::vector<std::string> values;
    for (int64_t j = 0; j < spec_.outputs; ++j) {
      for (int64_t i = list_.begin[static_cast<size_t>(j)]; i < list_.begin[static_cast<size_t>(j + 1)]; ++i) {
        values.push_back(TextOf(j, list_.inputs[static_cast<size_t>(i)]));
      }
    }
    out_.AddArray(WeightType(), Array("weights"), values, 0, DTypeSize_bytes(stored_.numbers.dtype()));
    const auto add_whole = [&](const char* what, const std::vector<int64_t>& numbers, int64_t most) {
      std::vector<std::string> texts(numbers.size());
      std::transform(numbers.begin(), numbers.end(), texts.begin(), [](int64_t n) { return std::to_string(n); });
      const auto [type, size_bytes] = WholeType(most);
      out_.AddArray(type, Array(what), texts, 0, size_bytes);
    };
    add_whole("input", list_.inputs, spec_.inputs);
    add_whole("begin", list_.begin, list_.begin.back());
  }

  // A stored weight as a number of the network's type.
  std::string WeightText() {
    std::string at = Array("weights") + (listed() ? "[i]" : blocks_ > 1 ? "[member][i][j]" : "[i][j]");
    switch (storage_) {
      case WeightStorage::kExact: return at;
      case WeightStorage::kI8: return fmt::format("({}){}", Real(), at);
      case WeightStorage::kBF16:
        out_.AddOnce(
            "/* The number that a bf16 is: the upper half of a float. */\n"
            "static float @_bf16(uint16_t half) {\n"
            "  union { uint32_t bits; float number; } both;\n"
            "  both.bits = (uint32_t)half << 16;\n"
            "  return both.number;\n"
            "}\n\n");
        return fmt::format("@_bf16({})", at);
      default:
        out_.AddOnce(
            "/* The number that an IEEE 754 binary16 is. */\n"
            "static float @_f16(uint16_t half) {\n"
            "  union { uint32_t bits; float number; } both;\n"
            "  both.bits = (uint32_t)(half & 0x7fffU) << 13;\n"
            "  both.number = both.number * 5.192296858534828e33F; /* 2 to the power of 112 */\n"
            "  both.bits |= (uint32_t)(half & 0x8000U) << 16;\n"
            "  return both.number;\n"
            "}\n\n");
        return fmt::format("@_f16({})", at);
    }
  }

  void AddSums(const std::string& weight) {
    out_.Add("  for (j = 0; j < {}; ++j)\n    a[j] = {};\n", spec_.outputs, out_.Number(0));
    out_.Add("  for (i = 0; i < {}; ++i) {{\n    const {} xi = x[i];\n", spec_.inputs, Real());
    if (spec_.synapse == Synapse::kDot && spec_.outputs >= kSkipFrom) {
      out_.Add("    if (xi == {})\n      continue;\n", out_.Number(0));
    }
    std::string term;
    switch (spec_.synapse) {
      case Synapse::kDot: term = fmt::format("a[j] += xi * {};", weight); break;
      case Synapse::kL1: term = fmt::format("a[j] += {}(xi - {});", out_.Function("fabs"), weight); break;
      default: term = fmt::format("a[j] += (xi - {0}) * (xi - {0});", weight); break;
    }
    out_.Add("    for (j = 0; j < {}; ++j)\n      {}\n  }}\n", spec_.outputs, term);
  }

  void AddListedSums(const std::string& weight) {
    out_.Add("  for (j = 0; j < {}; ++j) {{\n    {} sum = {};\n", spec_.outputs, Real(), out_.Number(0));
    out_.Add("    for (i = {0}[j]; i < {0}[j + 1]; ++i)\n      sum += x[{1}[i]] * {2};\n    a[j] = sum;\n  }}\n",
             Array("begin"), Array("input"), weight);
  }

  void AddFinish() {
    const std::string block = blocks_ > 1 ? "[member][j]" : "[j]";
    std::string z = "a[j]";
    if (spec_.synapse == Synapse::kL2) {
      z = fmt::format("{}({})", out_.Function("sqrt"), z);
    }
    if (!stored_.scales.empty()) {
      z += " * " + Array("scale") + block;
    }
    if (!bias_.empty()) {
      z += " + " + Array("bias") + block;
    }
    if (!radii_.empty()) {
      z += " / " + Array("radius") + "[j]";
    }
    z = curve_.empty() ? z : fmt::format("{}({})", curve_, z);
    if (z != "a[j]") {
      out_.Add("  for (j = 0; j < {}; ++j)\n    a[j] = {};\n", spec_.outputs, z);
    }
    if (activation_.is_softmax()) {
      out_.Add("  @_softmax(a, {});\n", spec_.outputs);
    }
  }

  CWriter& out_;
  const LayerSpec& spec_;
  int64_t blocks_;
  size_t number_;
  const std::string& prefix_;
  StoredWeights stored_;
  WeightStorage storage_;
  WeightList list_;
  std::vector<double> bias_;
  std::vector<double> radii_;
  Activation activation_;
  std::string curve_;
};

int64_t Widest(const Network& network) {
  int64_t widest = 0;
  for (size_t l = 0; l + 1 < network.layers().size(); ++l) {
    widest = std::max(widest, network.layers()[l].outputs);
  }
  return widest;
}

// The layers from x to y, each with what a residual block adds.
void AddCalls(CWriter& out, const Network& network, const std::string& prefix, const std::string& member) {
  const size_t count = network.layers().size();
  std::string from = "x";
  for (size_t l = 0; l < count; ++l) {
    const LayerSpec& layer = network.layers()[l];
    const std::string to = l + 1 == count ? "y" : l % 2 == 0 ? "a" : "b";
    if (network.BeginsResidual(l)) {
      out.Add("  for (i = 0; i < {}; ++i)\n    skipped[i] = {}[i];\n", layer.inputs, from);
    }
    out.Add("  {}_layer{}({}, {}{});\n", prefix, l + 1, from, to, l + 1 == count ? member : "");
    if (layer.residual > 0) {
      out.Add("  for (i = 0; i < {}; ++i)\n    {}[i] += skipped[i];\n", layer.outputs, to);
    }
    from = to;
  }
}

void AddMembers(CWriter& out, const Network& network, const std::string& function, const std::string& prefix) {
  const MatrixView scales = network.MemberScales();
  std::vector<double> factors;
  DispatchFloat(out.dtype(), [&]<class T>(T) {
    for (int64_t m = 0; m < scales.rows; ++m) {
      factors.insert(factors.end(), scales.Row<T>(m), scales.Row<T>(m) + scales.cols);
    }
  });
  out.AddNumbers(prefix + "_factor", factors, network.inputs());
  out.Add(
      "\n/* The mean of {} members, each with inputs times factors of its own. */\n"
      "static void {}(const {} *x, {} *y) {{\n  {} own[{}], answer[{}];\n  int i, member;\n",
      network.members(), function, out.real(), out.real(), out.real(), network.inputs(), network.outputs());
  out.Add("  for (i = 0; i < {}; ++i)\n    y[i] = {};\n  for (member = 0; member < {}; ++member) {{\n",
          network.outputs(), out.Number(0), network.members());
  out.Add(
      "    for (i = 0; i < {}; ++i)\n      own[i] = x[i] * {}_factor[member][i];\n    {}_member(own, answer, "
      "member);\n",
      network.inputs(), prefix, function);
  out.Add(
      "    for (i = 0; i < {0}; ++i)\n      y[i] += answer[i];\n  }}\n  for (i = 0; i < {0}; ++i)\n    y[i] /= "
      "{1};\n}}\n\n",
      network.outputs(), out.Number(static_cast<double>(network.members())));
  out.stack_bytes += (network.inputs() + network.outputs()) * out.real_bytes();
}

}  // namespace

void AddSoftmax(CWriter& out) {
  out.AddOnce(
      fmt::format("static void @_softmax({0} *a, int count) {{\n"
                  "  {0} most = a[0], sum = {1};\n"
                  "  int i;\n"
                  "  for (i = 1; i < count; ++i)\n    most = a[i] > most ? a[i] : most;\n"
                  "  for (i = 0; i < count; ++i) {{\n    a[i] = {2}(a[i] - most);\n    sum += a[i];\n  }}\n"
                  "  for (i = 0; i < count; ++i)\n    a[i] /= sum;\n"
                  "}}\n\n",
                  out.real(), out.Number(0), out.Function("exp")));
}

void AddNetwork(CWriter& out, CActivations& activations, const Network& network, WeightStorage weights,
                const std::string& function, const std::string& prefix) {
  const CWork before = out.work;
  for (size_t l = 0; l < network.layers().size(); ++l) {
    LayerWriter(out, activations, network, l, weights, prefix).Add();
  }
  const bool members = network.members() > 1;
  out.work.products = before.products + (out.work.products - before.products) * network.members();
  out.work.curves = before.curves + (out.work.curves - before.curves) * network.members();
  const size_t count = network.layers().size();
  const int64_t widest = Widest(network);
  const auto& layers = network.layers();
  const bool skips = std::any_of(layers.begin(), layers.end(), [](const LayerSpec& l) { return l.residual > 0; });
  out.Add("static void {}{}(const {} *x, {} *y{}) {{\n", function, members ? "_member" : "", out.real(), out.real(),
          members ? ", int member" : "");
  if (count > 1) {
    out.Add("  {} a[{}]{}{};\n", out.real(), widest, count > 2 ? fmt::format(", b[{}]", widest) : "",
            skips ? fmt::format(", skipped[{}]", std::max(widest, network.inputs())) : "");
    out.stack_bytes += widest * out.real_bytes() * ((count > 2 ? 2 : 1) + (skips ? 1 : 0));
  }
  out.Add("{}", skips ? "  int i;\n" : "");
  AddCalls(out, network, prefix, members ? ", member" : "");
  out.Add("}}\n\n");
  if (members) {
    AddMembers(out, network, function, prefix);
  }
}

}  // namespace lamina
