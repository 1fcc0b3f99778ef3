// Layers neuron by neuron: sums stay in a register, which small processors have few of.
#include "lamina/model/c_source/c_int8.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/model/c_source/c_answer.h"
#include "lamina/model/c_source/c_inputs.h"
#include "lamina/model/c_source/c_scaling.h"

namespace lamina {
namespace {

template <class T>
std::vector<std::string> Texts(const std::vector<T>& values) {
  std::vector<std::string> texts;
  std::transform(values.begin(), values.end(), std::back_inserter(texts),
                 [](T value) { return std::to_string(value); });
  return texts;
}

constexpr const char* kScaled =
    "/* A sum times factor over 2 to the power of shift, rounded to nearest. */\n"
    "static int32_t @_scaled(int32_t sum, int32_t factor, int shift) {\n"
    "  return (int32_t)(((int64_t)sum * factor + ((int64_t)1 << (shift - 1))) >> shift);\n"
    "}\n\n";

const char* TermOf(Synapse synapse) {
  switch (synapse) {
    case Synapse::kDot: return "sum += x[i] * w[i];";
    case Synapse::kL1: return "sum += x[i] > w[i] ? x[i] - w[i] : w[i] - x[i];";
    default: return "sum += (x[i] - w[i]) * (x[i] - w[i]);";
  }
}

void AddArrays(CWriter& out, const Int8Layer& layer, size_t number) {
  out.AddArray("int8_t", fmt::format("@_weights{}", number), Texts(layer.weights), layer.inputs, 1);
  out.AddArray("int32_t", fmt::format("@_offset{}", number), Texts(layer.offsets), 0, 4);
  if (!layer.factors.empty()) {
    out.AddArray("int32_t", fmt::format("@_factor{}", number), Texts(layer.factors), 0, 4);
  }
  if (!layer.table.empty()) {
    out.Add("/* {} of -128 to 127. */\n", layer.activation.Text());
    out.AddArray("int8_t", fmt::format("@_table{}", number), Texts(layer.table), 0, 1);
  }
  out.Add("\n");
}

std::string FinishText(const Int8Layer& layer, size_t number) {
  if (layer.finish == Int8Finish::kCorner) {
    return fmt::format("    sum = @_offset{}[j] - sum;\n    a[j] = (int8_t)(sum > 0 ? sum >> {} : 0);\n", number,
                       layer.shift);
  }
  const std::string z = fmt::format("@_scaled(sum + @_offset{0}[j], @_factor{0}[j], {1})", number, layer.shift);
  if (layer.finish == Int8Finish::kClamped) {
    return fmt::format("    sum = {0};\n    a[j] = (int8_t)(sum < {1} ? {1} : sum > 127 ? 127 : sum);\n", z, layer.low);
  }
  if (layer.finish == Int8Finish::kTable) {
    return fmt::format("    sum = {};\n    a[j] = @_table{}[(sum < -128 ? -128 : sum > 127 ? 127 : sum) + 128];\n", z,
                       number);
  }
  return fmt::format("    a[j] = {};\n", z);
}

void AddLayer(CWriter& out, const Int8Layer& layer, size_t number, bool last) {
  if (layer.finish != Int8Finish::kCorner) {
    out.AddOnce(kScaled);
  }
  AddArrays(out, layer, number);
  out.Add("/* Layer {}: {} input{}, {} neuron{}, {}-{}{} */\n", number, layer.inputs, Many(layer.inputs), layer.outputs,
          Many(layer.outputs), SynapseName(layer.synapse), CComment(layer.activation.Text()),
          layer.finish == Int8Finish::kCorner ? "; no multiplication" : "");
  out.Add(
      "static void @_layer{}(const int8_t *x, {} *a) {{\n  int i, j;\n  for (j = 0; j < {}; ++j) {{\n"
      "    const int8_t *const w = @_weights{}[j];\n    int32_t sum = 0;\n    for (i = 0; i < {}; ++i)\n      {}\n",
      number, last ? "int32_t" : "int8_t", layer.outputs, number, layer.inputs, TermOf(layer.synapse));
  out.AddText(FinishText(layer, number) + "  }\n}\n\n");
  (layer.synapse == Synapse::kL1 ? out.work.differences : out.work.products) += layer.inputs * layer.outputs;
}

void AddPowers(CWriter& out) {
  const Int8Powers powers = MakeInt8Powers();
  out.Add("/* 65536 e^-d: whole d, and 64ths of it. */\n");
  out.AddArray("uint32_t", "@_whole_powers", Texts(powers.whole), 0, 4);
  out.AddArray("uint32_t", "@_powers", Texts(powers.rest), 0, 4);
  out.Add(
      "\n/* The same of d in 1024ths. */\nstatic uint32_t @_power(int32_t d) {{\n"
      "  const uint32_t steps = (uint32_t)d / 16U;\n  if (steps / 64U >= {}U)\n    return 0;\n"
      "  return (uint32_t)((uint64_t)@_whole_powers[steps / 64U] * @_powers[steps % 64U] / 65536U);\n}}\n\n",
      powers.whole.size());
}

void AddShares(CWriter& out, Int8Finish finish, int64_t outputs) {
  if (finish == Int8Finish::kNumbers) {
    return;
  }
  AddPowers(out);
  if (finish == Int8Finish::kSigmoid) {
    out.Add(
        "/* 32768ths of a sigmoid. */\nstatic int32_t @_sigmoid(int32_t z) {{\n"
        "  const int32_t share = (int32_t)(2147483648U / (65536U + @_power(z < 0 ? -z : z)));\n"
        "  return z < 0 ? 32768 - share : share;\n}}\n\n");
    return;
  }
  out.Add(
      "/* 32768ths of a softmax. */\nstatic void @_shares(int32_t *z) {{\n  int32_t most = z[0];\n"
      "  uint32_t sum = 0;\n  int j;\n  for (j = 1; j < {0}; ++j)\n    most = z[j] > most ? z[j] : most;\n"
      "  for (j = 0; j < {0}; ++j) {{\n    z[j] = (int32_t)@_power(most - z[j]);\n    sum += (uint32_t)z[j];\n  }}\n"
      "  for (j = 0; j < {0}; ++j)\n    z[j] = (int32_t)((uint64_t)(uint32_t)z[j] * 32768U / sum);\n}}\n\n",
      outputs);
}

void AddIntegers(CWriter& out, const Int8Network& network) {
  const size_t count = network.layers.size();
  int64_t widest = 0;
  for (size_t l = 0; l + 1 < count; ++l) {
    widest = std::max(widest, network.layers[l].outputs);
  }
  out.Add("void @_integers(const int8_t *x, int32_t *outputs) {{\n");
  if (count > 1) {
    out.Add("  int8_t a[{}]{};\n", widest, count > 2 ? fmt::format(", b[{}]", widest) : "");
    out.stack_bytes += widest * (count > 2 ? 2 : 1);
  }
  const Int8Layer& last = network.layers.back();
  const bool sigmoid = last.finish == Int8Finish::kSigmoid;
  if (sigmoid) {
    out.Add("  int j;\n");
  }
  std::string from = "x";
  for (size_t l = 0; l < count; ++l) {
    const std::string to = l + 1 == count ? "outputs" : l % 2 == 0 ? "a" : "b";
    out.Add("  @_layer{}({}, {});\n", l + 1, from, to);
    from = to;
  }
  if (sigmoid) {
    out.Add("  for (j = 0; j < {}; ++j)\n    outputs[j] = @_sigmoid(outputs[j]);\n", last.outputs);
  } else if (last.finish == Int8Finish::kSoftmax) {
    out.Add("  @_shares(outputs);\n");
  }
  out.Add("}}\n\n");
}

// An output in units of its target, or a share.
void AddValue(CWriter& out, const Model& model, const Int8Network& network) {
  const TargetEncoder& targets = model.preprocessor.targets();
  const std::string y = fmt::format("({})outputs[output] * {}", out.real(), out.Number(network.output_step));
  if (model.preprocessor.inputs().count() == 0 || targets.task() == Task::kClassification) {
    out.Add("double @_value(const int32_t *outputs, int output) {{ return {}; }}\n\n", y);
    return;
  }
  std::string text = fmt::format("double @_value(const int32_t *outputs, int output) {{\n  const double y = {};\n", y);
  for (int64_t j = 0; j + 1 < model.network.outputs(); ++j) {
    text += fmt::format("  if (output == {})\n    return {};\n", j, DecodedInC(out, targets.ScalingOf(j), "y"));
  }
  text += fmt::format("  return {};\n}}\n\n", DecodedInC(out, targets.ScalingOf(model.network.outputs() - 1), "y"));
  if (model.network.outputs() == 1) {
    text.insert(text.find("  const double y"), "  (void)output;\n");
    text.replace(text.find("outputs[output]"), 15, "outputs[0]");
  }
  out.AddText(text);
}

}  // namespace

void RequireOneNetwork(const Model& model) {
  constexpr const char* kInt8 = "8-bit integers";
  RefuseEnsemble(model, kInt8);
  RefuseNearest(model, kInt8);
  if (model.preprocessor.targets().OutputsOfTarget() > 1) {
    throw Error(ErrorCode::kUnsupported, "8-bit integers cannot do quantiles, which have to be put in order",
                {.remedy = "Leave --int8 out."});
  }
}

void AddInputSteps(CWriter& out, const Int8Network& network) {
  out.Add("/* What 1 of 8 bits is of each input. */\n");
  out.AddNumbers("@_input_step", network.input_steps);
  out.Add("\n");
}

void AddInt8Answers(CWriter& out, const Model& model, const CColumns& columns, const Int8Network& network) {
  for (size_t l = 0; l < network.layers.size(); ++l) {
    AddLayer(out, network.layers[l], l + 1, l + 1 == network.layers.size());
  }
  AddShares(out, network.layers.back().finish, model.network.outputs());
  AddIntegers(out, network);
  const std::string upper = UpperCName(out.name());
  out.Add(
      "int @_predict({}, int32_t outputs[{}_OUTPUTS]) {{\n  int8_t x[{}];\n  const int bad = @_encode({}, x);\n"
      "  if (bad == 0)\n    @_integers(x, outputs);\n  return bad;\n}}\n\n",
      RowParameters(columns, upper), upper, model.network.inputs(), RowArguments(columns));
  out.stack_bytes += model.network.inputs() + 4 * model.network.outputs();
  AddValue(out, model, network);
  const TargetEncoder& targets = model.preprocessor.targets();
  if (!targets.class_names().empty()) {
    const double whole = std::floor(targets.class_threshold() / network.output_step);
    AddClassOf(out, targets, "int32_t", std::to_string(static_cast<int64_t>(whole)));
  }
}

std::string Int8Declarations(const Model& model, const CColumns& columns, const std::string& name) {
  const std::string upper = UpperCName(name);
  std::string text = fmt::format(
      "/* Answers a row in whole numbers, which @_value turns into values. Returns 0, or 1 + the column whose value "
      "is\n"
      " * missing, unknown or too large; then `outputs` is left alone. Any number of threads may ask. */\n"
      "int @_predict({}, int32_t outputs[{}_OUTPUTS]);\n\n"
      "/* The same of inputs that are encoded, in whole numbers alone. */\n"
      "void @_integers(const int8_t *x, int32_t *outputs);\n\n"
      "/* What an output says: a share of 1, or a value in units of its target. */\n"
      "double @_value(const int32_t *outputs, int output);\n\n",
      RowParameters(columns, upper), upper);
  if (!model.preprocessor.targets().class_names().empty()) {
    text += fmt::format("/* The class that outputs mean. */\nint @_class_of(const int32_t outputs[{}_OUTPUTS]);\n\n",
                        upper);
  }
  return text;
}

}  // namespace lamina
