// Distances, single layers and nearest neighbors on arrays.
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/layer/layer.h"
#include "lamina/layer/neighbour_tree.h"
#include "lamina/layer/neighbours.h"
#include "lamina/layer/rows_within.h"
#include "lamina/layer/sliced_layer.h"
#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"

namespace lamina::python {
namespace {

// What a call of several arguments computes with.
struct Operands {
  ConstMatrixView x;
  ConstMatrixView y;
  DType dtype;
};

Operands OperandsOf(const AnyArray& x, const AnyArray& y, const std::string& dtype) {
  const DType type = ParseDType(dtype);
  return {ViewOfAny(x, type, "x"), ViewOfAny(y, type, "y"), type};
}

// Integer operands are looked at where they are in host memory.
LayerPlanRequest RequestFor(const LayerSpec& layer, const Operands& operands) {
  LayerPlanRequest request{layer, operands.dtype, operands.x.rows};
  request.any_slicing = true;
  if (IsInteger(operands.dtype)) {
    request.largest_x = LargestMagnitude(operands.x);
    request.largest_w = LargestMagnitude(operands.y);
  }
  return request;
}

std::string DistanceTypeName(const std::string& dtype, const std::string& metric) {
  return std::string(DTypeName(DistanceType(ParseDType(dtype), ParseSynapse(metric))));
}

void Distances(const AnyArray& x_array, const AnyArray& y_array, const std::string& dtype, const std::string& metric,
               const AnyOutArray& out_array, const std::string& backend_name, int threads) {
  const auto [x, y, type] = OperandsOf(x_array, y_array, dtype);
  const Synapse synapse = ParseSynapse(metric);
  const MatrixView out = ViewOfAny(out_array, DistanceType(type, synapse), "out");
  const Backend& backend = BackendOf(backend_name, threads);
  Interruptibly([&] { PairwiseDistances(x, y, synapse, out, backend); });
}

// Slices of a size that the caches like; rows of mapped files are read as they are reached. What is in a GPU's memory
// is computed there, as a whole.
void OneLayer(const AnyArray& x_array, const AnyArray& w_array, const nb::object& bias, const std::string& dtype,
              const std::string& neuron, const std::string& precision, const AnyOutArray& out_array,
              const std::string& backend_name, int threads) {
  const Operands operands = OperandsOf(x_array, w_array, dtype);
  const auto& [x, w, type] = operands;
  LayerSpec spec = ParseNeuron(neuron);
  spec.inputs = x.cols;
  spec.outputs = w.rows;
  spec.bias = !bias.is_none();
  const DType result = OutputType(type);
  const MatrixView out = ViewOfAny(out_array, result, "out");
  const void* biases = nullptr;
  InArray bias_array;
  if (spec.bias) {
    bias_array = nb::cast<InArray>(bias);
    biases = VectorOf(bias_array, result, w.rows, "b");
  }
  const Backend& backend = BackendOf(backend_name, threads);
  Interruptibly([&] {
    LayerPlanRequest request = RequestFor(spec, operands);
    request.precision = ParseName(precision, kPrecisions, "unknown precision");
    if (x.space != Space::kHost || w.space != Space::kHost || out.space != Space::kHost) {
      Layer(request, backend).Forward(x, w, biases, out);
      return;
    }
    SlicedLayerOptions options;
    options.precision = request.precision;
    options.largest_x = request.largest_x;
    options.largest_w = request.largest_w;
    MatrixRows x_rows(x);
    MatrixRows w_rows(w);
    const SlicePlan plan = PlanSlices(spec, x.rows, type, {.budget_bytes = DefaultBudget_bytes()});
    SlicedLayer(spec, backend, plan, type, options).Run(x_rows, w_rows, biases, {out, {}});
  });
}

/// A tree over an array, which it keeps.
struct PyTree {
  InArray array;
  std::unique_ptr<NeighbourTree> tree;
};

// Null where it would not pay to look for the neighbors of so many rows with it.
std::unique_ptr<PyTree> MakeTree(const InArray& array, const std::string& dtype, const std::string& metric,
                                 int64_t queries, int threads) {
  const ConstMatrixView rows = ViewOfArray(array, ParseDType(dtype), "y");
  const Synapse synapse = ParseSynapse(metric);
  auto tree = Interruptibly([&] {
    const bool pays = TreePays(queries, rows, synapse, ThreadsOf(threads)) && NeighbourTree::Takes(rows, synapse);
    return pays ? std::make_unique<NeighbourTree>(rows, synapse) : nullptr;
  });
  return tree == nullptr ? nullptr : std::make_unique<PyTree>(PyTree{array, std::move(tree)});
}

// A matrix of one row.
template <class T>
nb::object RowOf(const std::vector<T>& numbers) {
  Matrix row(1, std::ssize(numbers), DTypeOf<T>());
  std::copy(numbers.begin(), numbers.end(), row.Row<T>(0));
  return NumpyOf(std::move(row));
}

// None where a look at all distances is quicker.
nb::object Within(const PyTree& tree, const InArray& x_array, double radius, int threads) {
  const ConstMatrixView x = ViewOfArray(x_array, tree.tree->rows().dtype, "x");
  const Backend& one_thread = BackendOf("cpu", 1);
  const auto found =
      Interruptibly([&] { return FindRowsWithin(x, *tree.tree, radius, ThreadsOf(threads), one_thread); });
  if (!found) {
    return nb::none();
  }
  return nb::make_tuple(RowOf(found->counts), RowOf(found->indices), RowOf(found->distances));
}

void Nearest(const AnyArray& x_array, const AnyArray& y_array, int64_t k, const std::string& dtype,
             const std::string& metric, const OutArray& distances_array, const OutArray& indices_array,
             const std::string& backend_name, int threads, const PyTree* tree) {
  const auto [x, y, type] = OperandsOf(x_array, y_array, dtype);
  NeighbourOptions options{ParseSynapse(metric), k};
  options.tree = tree == nullptr ? nullptr : tree->tree.get();
  const MatrixView distances = ViewOfArray(distances_array, DistanceType(type, options.metric), "distances");
  const MatrixView indices = ViewOfArray(indices_array, DType::kI64, "indices");
  for (const MatrixView& view : {distances, indices}) {
    if (view.rows != x.rows || view.cols != k) {
      throw Error(ErrorCode::kInvalidArgument, "distances and indices must be rows of x x k");
    }
  }
  const Backend& backend = BackendOf(backend_name, threads);
  Interruptibly([&] {
    MatrixRows x_rows(x);
    MatrixRows y_rows(y);
    NearestRows(x_rows, y_rows, options, backend, {indices, distances, {}});
  });
}

}  // namespace

void BindArrayFunctions(nb::module_& module) {
  module.def("distance_type", &DistanceTypeName, nb::arg("dtype"), nb::arg("metric"),
             "The type of distances by `metric` between rows of `dtype`.");
  module.def(
      "output_type", [](const std::string& dtype) { return std::string(DTypeName(OutputType(ParseDType(dtype)))); },
      nb::arg("dtype"), "The type of what a layer on `dtype` gives.");
  module.def("distances", &Distances, nb::arg("x"), nb::arg("y"), nb::arg("dtype"), nb::arg("metric"), nb::arg("out"),
             nb::arg("backend") = "auto", nb::arg("threads") = 0,
             "Writes the distance of every row of x to every row of y.");
  module.def("layer", &OneLayer, nb::arg("x"), nb::arg("w"), nb::arg("b").none(), nb::arg("dtype"), nb::arg("neuron"),
             nb::arg("precision"), nb::arg("out"), nb::arg("backend") = "auto", nb::arg("threads") = 0,
             "Writes the outputs of one layer.");
  nb::class_<PyTree>(module, "NeighbourTree", "A tree over rows of few columns, for finding neighbors among them.")
      .def(
          "within", &Within, nb::arg("x"), nb::arg("radius"), nb::arg("threads") = 0,
          "For each row of x how many rows are within the radius, their numbers and distances, each as a matrix of one "
          "row; None where a look at all distances is quicker.");
  module.def("neighbour_tree", &MakeTree, nb::arg("y"), nb::arg("dtype"), nb::arg("metric"), nb::arg("queries"),
             nb::arg("threads") = 0,
             "A tree over y; None where it would not pay to find the neighbors of so many rows with it.");
  module.def("nearest", &Nearest, nb::arg("x"), nb::arg("y"), nb::arg("k"), nb::arg("dtype"), nb::arg("metric"),
             nb::arg("distances"), nb::arg("indices"), nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             nb::arg("tree").none() = nb::none(), "Writes the k nearest rows of y for every row of x.");
}

}  // namespace lamina::python
