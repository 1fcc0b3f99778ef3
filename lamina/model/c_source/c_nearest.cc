// A list of the k nearest so far, in order.
#include "lamina/model/c_source/c_nearest.h"

#include <vector>

namespace lamina {
namespace {

std::vector<double> NumbersOf(ConstMatrixView matrix, bool transposed) {
  std::vector<double> values;
  DispatchFloat(matrix.dtype, [&]<class T>(T) {
    const int64_t rows = transposed ? matrix.cols : matrix.rows;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < (transposed ? matrix.rows : matrix.cols); ++j) {
        values.push_back(static_cast<double>(transposed ? matrix.Row<T>(j)[i] : matrix.Row<T>(i)[j]));
      }
    }
  });
  return values;
}

}  // namespace

void AddNearest(CWriter& out, const Model& model, const std::string& function) {
  const Network& network = model.network;
  const LayerSpec& rows = network.layers()[0];
  const ConstMatrixView kept = network.Weights(0);
  const ConstMatrixView targets = network.Weights(1);
  const int64_t k = model.nearest;
  out.Add("/* The {} row{} of training, and what was asked for there. */\n", rows.outputs, Many(rows.outputs));
  out.AddNumbers(function + "_rows", NumbersOf(kept, false), rows.inputs);
  out.AddNumbers(function + "_targets", NumbersOf(targets, true), network.outputs());
  const bool product = rows.synapse == Synapse::kDot;
  const std::string term = product                        ? "x[i] * rest"
                           : rows.synapse == Synapse::kL1 ? fmt::format("{}(x[i] - rest)", out.Function("fabs"))
                                                          : "(x[i] - rest) * (x[i] - rest)";
  out.Add(
      "\n/* The mean of the {} with {}; of equal ones those of lower index. */\n"
      "static void {}(const {} *x, {} *y) {{\n  {} near[{}];\n  int32_t place[{}], row;\n  int found = 0, i, j;\n",
      k, product ? "the largest products" : fmt::format("the least distances ({})", SynapseName(rows.synapse)),
      function, out.real(), out.real(), out.real(), k, k);
  out.Add(
      "  for (row = 0; row < {}; ++row) {{\n    {} distance = {};\n    for (i = 0; i < {}; ++i) {{\n"
      "      const {} rest = {}_rows[row][i];\n      distance += {};\n    }}\n",
      rows.outputs, out.real(), out.Number(0), rows.inputs, out.real(), function, term);
  out.Add(
      "    if (found == {0} && !(distance {1} near[{2}]))\n      continue;\n    found += found < {0} ? 1 : 0;\n"
      "    for (j = found - 1; j > 0 && distance {1} near[j - 1]; --j) {{\n"
      "      near[j] = near[j - 1];\n      place[j] = place[j - 1];\n    }}\n"
      "    near[j] = distance;\n    place[j] = row;\n  }}\n",
      k, product ? ">" : "<", k - 1);
  out.Add(
      "  for (i = 0; i < {}; ++i) {{\n    double sum = 0.0;\n    for (j = 0; j < {}; ++j)\n"
      "      sum += {}_targets[place[j]][i];\n    y[i] = ({})(sum / {});\n  }}\n}}\n\n",
      network.outputs(), k, function, out.real(), CDouble(static_cast<double>(k)));
  out.stack_bytes += k * (out.real_bytes() + 4);
  (product || rows.synapse != Synapse::kL1 ? out.work.products : out.work.differences) += rows.weight_count();
}

}  // namespace lamina
