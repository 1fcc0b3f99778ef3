// From the last layer to what people asked for.
#include "lamina/model/c_source/c_answer.h"

#include <algorithm>

#include "lamina/model/c_source/c_inputs.h"
#include "lamina/model/c_source/c_layers.h"
#include "lamina/model/c_source/c_nearest.h"
#include "lamina/model/c_source/c_scaling.h"
#include "lamina/model/explain.h"

namespace lamina {
namespace {

void AddNameArray(CWriter& out, const char* what, const char* size, const std::vector<std::string>& names) {
  std::vector<std::string> literals;
  for (const std::string& name : names) {
    literals.push_back(CString(name));
    out.name_bytes += std::ssize(name) + 1;
  }
  std::string text = fmt::format("const char *const @_{}_names[{}_{}] = {{\n", what, UpperCName(out.name()), size);
  std::string line = "   ";
  for (size_t i = 0; i < literals.size(); ++i) {
    if (line.size() + literals[i].size() > 98 && line.size() > 3) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + literals[i] + (i + 1 < literals.size() ? "," : "");
  }
  out.AddText(text + line + "};\n");
  out.name_bytes += 8 * std::ssize(names);
}

// The answer of an output in units of its target.
std::string AnswerText(CWriter& out, const TargetEncoder& targets, int64_t output) {
  const std::string y = fmt::format("{}y[{}]", out.dtype() == DType::kF64 ? "" : "(double)", output);
  return DecodedInC(out, targets.ScalingOf(output), y);
}

bool IsUnscaled(const TargetEncoder& targets) {
  return targets.task() == Task::kClassification ||
         std::all_of(targets.columns().begin(), targets.columns().end(),
                     [](const FittedColumn& column) { return column.scaling.IsIdentity(); });
}

void AddSort(CWriter& out, int64_t outputs, int64_t each) {
  out.Add(
      "  /* Quantiles that cross are put in order. */\n"
      "  for (j = 0; j < {}; j += {}) {{\n    for (i = 1; i < {}; ++i) {{\n"
      "      const double y_i = answers[j + i];\n"
      "      for (k = i; k > 0 && answers[j + k - 1] > y_i; --k)\n        answers[j + k] = answers[j + k - 1];\n"
      "      answers[j + k] = y_i;\n    }}\n  }}\n",
      outputs, each, each);
}

void AddPredict(CWriter& out, const Model& model, const CColumns& columns) {
  const std::string upper = UpperCName(out.name());
  const TargetEncoder& targets = model.preprocessor.targets();
  const bool fitted = model.preprocessor.inputs().count() > 0;
  const int64_t outputs = model.network.outputs();
  const bool plain = !fitted || IsUnscaled(targets);
  const bool quantiles = fitted && targets.OutputsOfTarget() > 1;
  std::string answers;
  if (plain) {
    answers = fmt::format("  for (i = 0; i < {}; ++i)\n    answers[i] = y[i];\n", outputs);
  } else {
    for (int64_t j = 0; j < outputs; ++j) {
      answers += fmt::format("  answers[{}] = {};\n", j, AnswerText(out, targets, j));
    }
  }
  out.Add("int @_predict({}, double outputs[{}_OUTPUTS]) {{\n  {} x[{}], y[{}];\n  double answers[{}];\n  int i{};\n",
          RowParameters(columns, upper), upper, out.real(), model.network.inputs(), outputs, outputs,
          quantiles ? ", j, k" : "");
  out.Add("  const int bad = @_encode({}, x);\n  if (bad != 0)\n    return bad;\n  @_outputs(x, y);\n",
          RowArguments(columns));
  out.AddText(answers);
  out.Add("  for (i = 0; i < {}; ++i) {{\n    if (!(fabs(answers[i]) <= DBL_MAX))\n      return -1;\n  }}\n", outputs);
  if (quantiles) {
    AddSort(out, outputs, targets.OutputsOfTarget());
  }
  out.Add("  for (i = 0; i < {}; ++i)\n    outputs[i] = answers[i];\n  return 0;\n}}\n\n", outputs);
  out.stack_bytes += (model.network.inputs() + outputs) * out.real_bytes() + 8 * outputs;
}

void AddIntervals(CWriter& out, const Model& model) {
  const std::string upper = UpperCName(out.name());
  std::vector<std::string> widths;
  for (const double width : model.intervals->half_widths) {
    widths.push_back(CDouble(width));
  }
  out.AddArray("double", "@_half_widths", widths, 0, 8);
  out.Add(
      "\nvoid @_interval(const double outputs[{0}_OUTPUTS], double lower[{0}_OUTPUTS], double above[{0}_OUTPUTS]) {{\n"
      "  int i;\n  for (i = 0; i < {0}_OUTPUTS; ++i) {{\n    lower[i] = outputs[i] - @_half_widths[i];\n"
      "    above[i] = outputs[i] + @_half_widths[i];\n  }}\n}}\n\n",
      upper);
}

}  // namespace

std::vector<std::string> NamesOfOutputs(const Model& model) {
  if (model.preprocessor.inputs().count() > 0) {
    return OutputNames(model);
  }
  std::vector<std::string> names;
  for (int64_t j = 0; j < model.network.outputs(); ++j) {
    names.push_back(fmt::format("y{}", j));
  }
  return names;
}

void AddNames(CWriter& out, const Model& model, const CColumns& columns) {
  std::vector<std::string> names;
  for (const CColumn& column : columns.columns) {
    names.push_back(column.name);
  }
  AddNameArray(out, "column", "COLUMNS", names);
  const std::vector<std::string>& classes = model.preprocessor.targets().class_names();
  AddNameArray(out, classes.empty() ? "output" : "class", classes.empty() ? "OUTPUTS" : "CLASSES",
               classes.empty() ? NamesOfOutputs(model) : classes);
  out.Add("\n");
}

void AddOutputs(CWriter& out, const Model& model) {
  const std::string function = out.name() + "_outputs";
  CActivations activations(out);
  if (model.nearest > 0) {
    AddNearest(out, model, function);
    return;
  }
  if (model.others.empty()) {
    AddNetwork(out, activations, model.network, model.weights, function, out.name());
    return;
  }
  for (int64_t i = 0; i < model.networks(); ++i) {
    const std::string net = fmt::format("{}_net{}", out.name(), i + 1);
    AddNetwork(out, activations, model.network_at(i), model.weights, net, net);
  }
  if (model.gates) {
    AddNetwork(out, activations, *model.gates, WeightStorage::kExact, out.name() + "_gates", out.name() + "_gates");
  }
  const int64_t outputs = model.network.outputs();
  const char* const wide = out.dtype() == DType::kF64 ? "" : "(double)";
  out.Add("/* The sum of {} networks, each times its share{}. */\nstatic void @_outputs(const {} *x, {} *y) {{\n",
          model.networks(), model.gates ? ", which goes by the row" : "", out.real(), out.real());
  out.Add("  double sums[{}];\n  int i;\n", outputs);
  if (model.gates) {
    out.Add(
        "  {} gates[{}];\n  double all = 0.0;\n  @_gates(x, gates);\n  for (i = 0; i < {}; ++i)\n    all += "
        "{}gates[i];\n",
        out.real(), model.networks(), model.networks(), wide);
    out.stack_bytes += model.networks() * out.real_bytes();
  }
  out.Add("  for (i = 0; i < {}; ++i)\n    sums[i] = 0.0;\n", outputs);
  for (int64_t i = 0; i < model.networks(); ++i) {
    const std::string share = model.gates ? fmt::format("{}gates[{}] / all", wide, i) : CDouble(model.share_of(i));
    const char* const deep = model.gates ? "  " : "";
    if (model.gates) {
      out.Add("  if ({}gates[{}] != 0.0) {{\n", wide, i);
    }
    out.Add("{0}  @_net{1}(x, y);\n{0}  for (i = 0; i < {2}; ++i)\n{0}    sums[i] += {3} * {4}y[i];\n{5}", deep, i + 1,
            outputs, share, wide, model.gates ? "  }\n" : "");
  }
  out.Add("  for (i = 0; i < {}; ++i)\n    y[i] = ({})sums[i];\n}}\n\n", outputs, out.real());
  out.stack_bytes += 8 * outputs;
}

void AddClassOf(CWriter& out, const TargetEncoder& targets, const std::string& type, const std::string& threshold) {
  const std::string upper = UpperCName(out.name());
  out.Add("int @_class_of(const {} outputs[{}_OUTPUTS]) {{\n", type, upper);
  const bool highest = targets.highest_wins();
  if (targets.form().single_output) {
    out.Add("{}  return outputs[0] > {} ? {} : {};\n}}\n\n",
            type == "double" ? "  if (outputs[0] != outputs[0])\n    return -1;\n" : "", threshold, highest ? 1 : 0,
            highest ? 0 : 1);
    return;
  }
  out.Add(
      "  int best = 0, i;\n  for (i = 0; i < {}_OUTPUTS; ++i) {{\n{}"
      "    if (outputs[i] {} outputs[best])\n      best = i;\n  }}\n  return best;\n}}\n\n",
      upper, type == "double" ? "    if (outputs[i] != outputs[i])\n      return -1;\n" : "", highest ? ">" : "<");
}

void AddAnswers(CWriter& out, const Model& model, const CColumns& columns) {
  AddPredict(out, model, columns);
  const TargetEncoder& targets = model.preprocessor.targets();
  if (!targets.class_names().empty()) {
    AddClassOf(out, targets, "double", CDouble(targets.class_threshold()));
  }
  if (model.intervals) {
    AddIntervals(out, model);
  }
}

}  // namespace lamina
