// Training on arrays: data sets as the library's trainer takes them, the loop with callbacks, and where distance
// neurons start.
#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/data/encode/sparse_rows.h"
#include "lamina/nn/sparse_products.h"
#include "lamina/rbf/mean_distance.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/meanings.h"
#include "lamina/train/trainer.h"
#include "python/src/batch_predictor.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/network_type.h"
#include "python/src/update_options.h"

namespace lamina::python {
namespace {

// What on_epoch() answers, added up.
constexpr int kStop = 1;
constexpr int kBest = 2;

// Classes as columns of 0 and 1; a single column holds the second of two.
Matrix TargetsOf(std::span<const int32_t> labels, int64_t columns, DType dtype) {
  Matrix targets(std::ssize(labels), columns, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < targets.rows(); ++i) {
      const int32_t label = labels[static_cast<size_t>(i)];
      if (columns == 1) {
        targets.Row<T>(i)[0] = static_cast<T>(label);
      } else {
        targets.Row<T>(i)[label] = T(1);
      }
    }
  });
  return targets;
}

void RequireLabels(std::span<const int32_t> labels, int64_t columns) {
  const int64_t classes = std::max<int64_t>(columns, 2);
  for (const int32_t label : labels) {
    if (label < 0 || label >= classes) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("a label is not one of the {} classes", classes),
                  {.value = std::to_string(label)});
    }
  }
}

/// What `rows` rows are trained for, and how much each counts.
void TakeTargets(Dataset& data, int64_t rows, DType type, const nb::object& targets, const nb::object& labels,
                 int64_t outputs, const nb::object& weights) {
  data.sample_weights = DoublesOf(weights, rows, "sample_weight");
  if (labels.is_none()) {
    const InArray array = nb::cast<InArray>(targets);
    const ConstMatrixView view = ViewOfArray(array, type, "targets");
    if (view.rows != rows || view.cols != outputs) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("targets are {} x {}, {} x {} are needed", view.rows, view.cols, rows, outputs));
    }
    data.targets = Matrix(rows, outputs, type);
    ConvertMatrix(view, data.targets.view());
    return;
  }
  const InArray array = nb::cast<InArray>(labels);
  const auto* first = static_cast<const int32_t*>(VectorOf(array, DType::kI32, rows, "labels"));
  data.labels.assign(first, first + rows);
  RequireLabels(data.labels, outputs);
  data.targets = TargetsOf(data.labels, outputs, type);
}

/// Copies of the arrays: what happens to them later does not matter.
std::unique_ptr<Dataset> MakeDataset(const InArray& x_array, const std::string& x_dtype, const nb::object& offsets,
                                     const nb::object& scales, const std::string& dtype, const nb::object& targets,
                                     const nb::object& labels, int64_t outputs, const nb::object& weights) {
  const ConstMatrixView x = ViewOfArray(x_array, ParseDType(x_dtype), "x");
  const std::vector<double> x_offsets = DoublesOf(offsets, x.cols, "offsets");
  const std::vector<double> x_scales = DoublesOf(scales, x.cols, "scales");
  const DType type = ParseDType(dtype);
  auto data = std::make_unique<Dataset>();
  TakeTargets(*data, x.rows, type, targets, labels, outputs, weights);
  const int64_t wrong = Interruptibly([&] {
    constexpr int64_t kNumbersOfPart = 1 << 24;  // before the next stop point
    data->features = Matrix(x.rows, x.cols, type);
    const int64_t part = std::max<int64_t>(1, kNumbersOfPart / std::max<int64_t>(1, x.cols));
    for (int64_t begin = 0; begin < x.rows; begin += part) {
      const int64_t count = std::min(part, x.rows - begin);
      const int64_t first_wrong =
          ScaleRows(x.Rows(begin, count), x_offsets, x_scales, data->features.view().Rows(begin, count), ThreadsOf(0));
      if (first_wrong >= 0) {
        return begin + first_wrong;
      }
      StopPoint();
    }
    return int64_t{-1};
  });
  if (wrong >= 0) {
    throw Error(ErrorCode::kBadData,
                fmt::format("x has a number in row {} that is not finite or too large for {}", wrong, dtype));
  }
  return data;
}

std::shared_ptr<SparseRows> MakeSparseRows(const InArray& values, const std::string& x_dtype, const InArray& columns,
                                           const InArray& starts, int64_t cols, const nb::object& offsets,
                                           const nb::object& scales, const std::string& dtype) {
  const auto sized = [](const InArray& array) { return array.ndim() == 1 ? static_cast<int64_t>(array.shape(0)) : -1; };
  const auto count = static_cast<size_t>(std::max<int64_t>(0, sized(columns)));
  CompressedRows from;
  from.dtype = ParseDType(x_dtype);
  from.values = VectorOf(values, from.dtype, sized(columns), "values");
  from.columns = {static_cast<const int32_t*>(VectorOf(columns, DType::kI32, sized(columns), "columns")), count};
  from.starts = {static_cast<const int64_t*>(VectorOf(starts, DType::kI64, sized(starts), "starts")),
                 static_cast<size_t>(std::max<int64_t>(0, sized(starts)))};
  from.cols = cols;
  const std::vector<double> x_offsets = DoublesOf(offsets, cols, "offsets");
  const std::vector<double> x_scales = DoublesOf(scales, cols, "scales");
  const nb::gil_scoped_release unlocked;
  return std::make_shared<SparseRows>(from, x_offsets, x_scales, ParseDType(dtype));
}

std::unique_ptr<Dataset> MakeSparseDataset(const std::shared_ptr<SparseRows>& rows, const nb::object& targets,
                                           const nb::object& labels, int64_t outputs, const nb::object& weights) {
  auto data = std::make_unique<Dataset>();
  data->sparse = rows;
  TakeTargets(*data, rows->rows(), rows->dtype(), targets, labels, outputs, weights);
  return data;
}

/// The scaled inputs of a data set, which must outlive it, block by block as dense arrays.
class Blocks {
 public:
  Blocks(const Dataset& data, int64_t most_rows) : data_(data) {
    if (data.sparse != nullptr) {
      copies_ = Matrix(std::min(most_rows, data.size()), data.inputs(), data.dtype());
      shown_.assign(static_cast<size_t>(copies_.rows()), -1);
    }
  }

  /// Rows [begin, begin + count): a view, of sparse rows good until the next call.
  nb::object Rows(int64_t begin, int64_t count) {
    const int64_t most = data_.sparse == nullptr ? data_.size() : copies_.rows();
    if (begin < 0 || count < 0 || begin + count > data_.size() || count > most) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("rows {} to {} of {}, at most {}", begin, begin + count, data_.size(), most));
    }
    void* rows = copies_.data();
    if (data_.sparse == nullptr) {
      rows = static_cast<char*>(data_.features.data()) + begin * data_.inputs() * DTypeSize_bytes(data_.dtype());
    } else {
      for (int64_t i = 0; i < count; ++i) {
        int64_t& before = shown_[static_cast<size_t>(i)];
        void* to = copies_.view().Rows(i, 1).data;
        before < 0 ? data_.sparse->Fill(begin + i, to) : data_.sparse->Replace(before, begin + i, to);
        before = begin + i;
      }
    }
    return NumpyView(rows, data_.dtype(), {static_cast<size_t>(count), static_cast<size_t>(data_.inputs())},
                     nb::find(*this));
  }

 private:
  const Dataset& data_;
  Matrix copies_;
  std::vector<int64_t> shown_;  // which row a row of the copies is; -1: none yet
};

ConstMatrixView DenseRows(const Dataset& data) {
  if (data.sparse != nullptr) {
    throw Error(ErrorCode::kUnsupported, "centers are found among dense rows", {.remedy = "Give X.toarray()."});
  }
  return data.features.view();
}

const SparseRows& SparseRowsOf(const Dataset& data, int64_t begin, int64_t count) {
  if (data.sparse == nullptr || !data.sparse->keeps_zeros()) {
    throw Error(ErrorCode::kUnsupported, "only of sparse rows whose zeros are zeros");
  }
  if (begin < 0 || count < 0 || begin + count > data.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("rows {} to {} of {}", begin, begin + count, data.size()));
  }
  return *data.sparse;
}

void RequireShape(ConstMatrixView view, int64_t rows, int64_t cols, const char* name) {
  if (view.rows != rows || view.cols != cols || view.stride != cols) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} is {} x {}, {} x {} is needed", name, view.rows, view.cols, rows, cols));
  }
}

void SparseSums(const Dataset& data, int64_t begin, const InArray& weights_array, const OutArray& sums_array,
                int threads) {
  const ConstMatrixView weights = ViewOfArray(weights_array, DType::kF64, "weights");
  const MatrixView sums = ViewOfArray(sums_array, data.dtype(), "sums");
  const SparseRows& rows = SparseRowsOf(data, begin, sums.rows);
  RequireShape(weights, rows.cols(), sums.cols, "weights");
  const nb::gil_scoped_release unlocked;
  SparseForward(rows, begin, weights, sums, ThreadsOf(threads));
}

void AddSparseGradient(const Dataset& data, int64_t begin, const InArray& delta_array, double scale,
                       const OutArray& gradient_array, int threads) {
  const ConstMatrixView delta = ViewOfArray(delta_array, data.dtype(), "delta");
  const MatrixView gradient = ViewOfArray(gradient_array, DType::kF64, "gradient");
  const SparseRows& rows = SparseRowsOf(data, begin, delta.rows);
  RequireShape(gradient, rows.cols(), delta.cols, "gradient");
  const nb::gil_scoped_release unlocked;
  SparseGradient(rows, begin, delta, scale, gradient, ThreadsOf(threads));
}

/// What an optimizer knows after training, to go on with other data.
struct OptimizerState {
  TrainState state;
};

// The loop begins anew, with the parameters of `network` and the optimiser's arrays and count of updates as they were.
TrainState Continued(const TrainState& from, const Network& network) {
  TrainState state;
  state.updates = from.updates;
  state.optimiser = from.optimiser;
  state.parameters = AlignedBuffer(network.parameter_bytes());
  std::memcpy(state.parameters.data(), network.parameters(), static_cast<size_t>(network.parameter_bytes()));
  return state;
}

// on_epoch() finds the network as it is after the epoch.
nb::tuple Fit(PyNetwork& network, const Dataset& train, const Dataset* validation, const nb::dict& option_dict,
              const nb::object& on_epoch, const OptimizerState* state, const std::string& backend_name, int threads) {
  TrainOptions options = TrainOptionsFrom(option_dict);
  options.patience = 0;  // on_epoch() decides
  options.keep = Keep::kLast;
  options.checkpoint_epochs = on_epoch.is_none() ? options.epochs : 1;
  const Backend& backend = BackendOf(backend_name, threads);
  Interrupts interrupts;
  int answer = 0;
  AlignedBuffer best;
  TrainState last;
  TrainCallbacks callbacks;
  callbacks.stop_requested = [&] { return interrupts.Stop(); };
  callbacks.abandon_requested = callbacks.stop_requested;
  if (!on_epoch.is_none()) {
    callbacks.answers = [&](AlignedBuffer&& parameters) {
      std::memcpy(network.network.parameters(), parameters.data(), static_cast<size_t>(parameters.size_bytes()));
    };
    callbacks.epoch_done = [&](const EpochRecord& record) {
      interrupts.Guarded([&] {
        answer = nb::cast<int>(on_epoch(record));
        return (answer & kStop) != 0;
      });
    };
  }
  callbacks.checkpoint = [&](TrainState&& snapshot) {
    if ((answer & kBest) != 0) {
      best = snapshot.parameters;
    }
    answer = 0;
    last = std::move(snapshot);
  };
  {
    const nb::gil_scoped_release unlocked;
    Trainer trainer(network.network, backend, options);
    if (state != nullptr) {
      trainer.Resume(Continued(state->state, network.network));
    }
    trainer.Run(train, validation, callbacks);
    if (best.size_bytes() > 0) {
      std::memcpy(network.network.parameters(), best.data(), static_cast<size_t>(best.size_bytes()));
    }
  }
  return nb::make_tuple(interrupts.Finish(), OptimizerState{std::move(last)});
}

void BindRecords(nb::module_& module) {
  nb::class_<EpochRecord>(module, "EpochRecord", "One epoch; losses are means over samples.")
      .def_ro("epoch", &EpochRecord::epoch)
      .def_ro("learning_rate", &EpochRecord::learning_rate)
      .def_ro("train_loss", &EpochRecord::train_loss)
      .def_ro("train_accuracy", &EpochRecord::train_accuracy)
      .def_ro("validation_loss", &EpochRecord::validation_loss)
      .def_ro("validation_accuracy", &EpochRecord::validation_accuracy)
      .def_ro("train_seconds", &EpochRecord::train_seconds)
      .def_ro("validation_seconds", &EpochRecord::validation_seconds)
      .def_ro("samples_per_second", &EpochRecord::samples_per_second);
  nb::class_<OptimizerState>(module, "OptimizerState", "What an optimizer knows, to go on with.");
}

void BindSparseRows(nb::module_& module) {
  nb::class_<SparseRows>(module, "SparseRows", "Compressed rows, scaled: copies of arrays.")
      .def(nb::new_(&MakeSparseRows), nb::arg("values"), nb::arg("x_dtype"), nb::arg("columns"), nb::arg("starts"),
           nb::arg("cols"), nb::arg("offsets").none(), nb::arg("scales").none(), nb::arg("dtype"))
      .def("__len__", &SparseRows::rows);
  nb::class_<Blocks>(module, "Blocks", nb::is_weak_referenceable(), "The scaled inputs of a Dataset, dense, in blocks.")
      .def(nb::init<const Dataset&, int64_t>(), nb::arg("data"), nb::arg("most_rows"), nb::keep_alive<1, 2>())
      .def("rows", &Blocks::Rows, nb::arg("begin"), nb::arg("count"),
           "A view, of sparse rows good until the next call.");
  module.def("sparse_dataset", &MakeSparseDataset, nb::arg("rows"), nb::arg("targets").none(), nb::arg("labels").none(),
             nb::arg("outputs"), nb::arg("sample_weight").none(),
             "A Dataset of sparse rows, which become dense batch by batch.");
  module.def("sparse_sums", &SparseSums, nb::arg("data"), nb::arg("begin"), nb::arg("weights"), nb::arg("sums"),
             nb::arg("threads") = 0,
             "Writes rows times weights (f64, inputs x outputs), from a row of sparse data on.");
  module.def("add_sparse_gradient", &AddSparseGradient, nb::arg("data"), nb::arg("begin"), nb::arg("delta"),
             nb::arg("scale"), nb::arg("gradient"), nb::arg("threads") = 0,
             "Adds scale times transposed rows times delta to the gradient of such weights.");
}

void BindDataset(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset", "Rows to train on or to be tested with: scaled copies of arrays.")
      .def(nb::new_(&MakeDataset), nb::arg("x"), nb::arg("x_dtype"), nb::arg("offsets").none(),
           nb::arg("scales").none(), nb::arg("dtype"), nb::arg("targets").none(), nb::arg("labels").none(),
           nb::arg("outputs"), nb::arg("sample_weight").none())
      .def("__len__", &Dataset::size)
      .def("is_sparse", [](const Dataset& self) { return self.sparse != nullptr; })
      .def("value_count",
           [](const Dataset& self) {
             return self.sparse == nullptr ? self.size() * self.inputs() : self.sparse->value_count();
           })
      .def("features",
           [](Dataset& self) {
             DenseRows(self);
             return NumpyView(self.features.data(), self.dtype(),
                              {static_cast<size_t>(self.size()), static_cast<size_t>(self.inputs())}, nb::find(self));
           })
      .def("targets",
           [](Dataset& self) {
             return NumpyView(self.targets.data(), self.targets.dtype(),
                              {static_cast<size_t>(self.targets.rows()), static_cast<size_t>(self.targets.cols())},
                              nb::find(self));
           })
      .def(
          "with_radius",
          [](const Dataset& self, const std::string& neuron, uint64_t seed) {
            return WithRadiusOf(ParseNeuron(neuron), DenseRows(self), seed).Text();
          },
          nb::arg("neuron"), nb::arg("seed"), "The activation's text with the radius for distances of random pairs.");
}

}  // namespace

void BindTraining(nb::module_& module) {
  BindRecords(module);
  BindSparseRows(module);
  BindDataset(module);
  module.def(
      "place_centres",
      [](PyNetwork& network, const Dataset& data, uint64_t seed) {
        DenseRows(data);
        PlaceCentres(network.network, data, seed);
      },
      nb::arg("network"), nb::arg("data"), nb::arg("seed"), "Sets the first layer's weights to rows of the data.");
  module.def(
      "fit", &Fit, nb::arg("network"), nb::arg("train"), nb::arg("validation").none(), nb::arg("options"),
      nb::arg("on_epoch").none(), nb::arg("state").none(), nb::arg("backend") = "cpu", nb::arg("threads") = 0,
      "Trains; on_epoch(record) answers 1 to stop, 2 for the best weights so far. Returns whether Ctrl-C ended it, "
      "and the optimiser's state.");
}

}  // namespace lamina::python
