// k-means and k-medians of the rows of data sets, whole and in the parts that rows in many places are gone through
// with.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/rbf/cluster_starts.h"
#include "lamina/rbf/clusters.h"
#include "lamina/rbf/row_shards.h"
#include "lamina/settings/centres.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/network_type.h"

namespace lamina::python {
namespace {

ClusterOptions OptionsFor(const std::string& kind, int64_t count, uint64_t seed) {
  ClusterOptions options;
  options.kind = ParseName(kind, kClusterKinds, "unknown centers");
  options.count = count;
  options.seed = seed;
  return options;
}

Matrix Copy(ConstMatrixView view) {
  Matrix copy(view.rows, view.cols, view.dtype);
  ConvertMatrix(view, copy.view());
  return copy;
}

void Place(PyNetwork& network, const Dataset& train, const std::string& kind, uint64_t seed,
           const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  Interruptibly([&] { PlaceClusters(network.network, train, OptionsFor(kind, 1, seed), backend); });
}

std::vector<int64_t> SampleOf(int64_t rows, const std::string& kind, int64_t count, uint64_t seed) {
  RequireClusters(rows, DType::kF32, count);
  const ClusterOptions options = OptionsFor(kind, count, seed);
  return ClusterStarts(rows, options).sample();
}

nb::object StartAmong(const InArray& sample, int64_t rows, const std::string& dtype, const std::string& kind,
                      int64_t count, uint64_t seed, const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  const ConstMatrixView view = ViewOfArray(sample, ParseDType(dtype), "sample");
  return NumpyOf(Interruptibly([&] {
    const ClusterOptions options = OptionsFor(kind, count, seed);
    return ClusterStarts(rows, options).Choose(Copy(view), backend);
  }));
}

nb::object Assigned(const InArray& rows_array, const InArray& centres_array, const std::string& dtype,
                    const std::string& kind, const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  const ConstMatrixView view = ViewOfArray(rows_array, ParseDType(dtype), "rows");
  const ConstMatrixView given = ViewOfArray(centres_array, ParseDType(dtype), "centres");
  Matrix indices(1, view.rows, DType::kI64);
  Matrix distances(1, view.rows, DType::kF64);
  Interruptibly([&] {
    MatrixRows rows(view);
    const Synapse metric = MetricOf(ParseName(kind, kClusterKinds, "unknown centers"));
    const Assignment assignment = AssignRows(rows, RowShards(view.rows, 1, nullptr), Copy(given), metric, backend);
    std::copy(assignment.centre.begin(), assignment.centre.end(), indices.Row<int64_t>(0));
    std::copy(assignment.distance.begin(), assignment.distance.end(), distances.Row<double>(0));
  });
  return nb::make_tuple(NumpyOf(std::move(indices)), NumpyOf(std::move(distances)));
}

nb::object SumsOf(const InArray& rows_array, const InArray& centre_array, const std::string& dtype, int64_t count) {
  const ConstMatrixView view = ViewOfArray(rows_array, ParseDType(dtype), "rows");
  const auto* const centre = static_cast<const int64_t*>(VectorOf(centre_array, DType::kI64, view.rows, "centre"));
  if (std::any_of(centre, centre + view.rows, [&](int64_t each) { return each < 0 || each >= count; })) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a row has one of {} centers", count));
  }
  Matrix sums(count, view.cols, DType::kF64);
  Interruptibly([&] {
    MatrixRows rows(view);
    AddToCentres(rows, 0, view.rows, centre, sums.Row<double>(0), 1);
  });
  return NumpyOf(std::move(sums));
}

}  // namespace

void BindClusters(nb::module_& module) {
  module.attr("cluster_iterations") = ClusterOptions{}.iterations;
  module.def("centre_choices", &CentreChoices, "Where distance neurons have their centers.");
  module.def("place_clusters", &Place, nb::arg("network"), nb::arg("train"), nb::arg("kind"), nb::arg("seed"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "Sets the first layer's weights to centers of clusters of the rows.");
  module.def("cluster_sample", &SampleOf, nb::arg("rows"), nb::arg("kind"), nb::arg("count"), nb::arg("seed"),
             "Those of so many rows among which centers start, ascending.");
  module.def("cluster_start", &StartAmong, nb::arg("sample"), nb::arg("rows"), nb::arg("dtype"), nb::arg("kind"),
             nb::arg("count"), nb::arg("seed"), nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "Centers among a sample of all rows, by k-means++.");
  module.def("cluster_rows", &Assigned, nb::arg("rows"), nb::arg("centres"), nb::arg("dtype"), nb::arg("kind"),
             nb::arg("backend") = "cpu", nb::arg("threads") = 0,
             "The nearest center of every row, and the distance to it: (1, rows) each.");
  module.def("cluster_sums", &SumsOf, nb::arg("rows"), nb::arg("centre"), nb::arg("dtype"), nb::arg("count"),
             "Sums of the rows of every center, (count, features); to be added to others.");
}

}  // namespace lamina::python
