// Networks: parameters as views, forward passes, gradients and single training steps.
#include "lamina/nn/network.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lamina/base/abandon.h"
#include "lamina/base/error.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"
#include "python/src/batch_predictor.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/network_type.h"
#include "python/src/update_options.h"

namespace lamina::python {

void RequireInputs(const Network& network, ConstMatrixView x) {
  if (x.cols != network.inputs()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("x has {} columns, the network {} inputs", x.cols, network.inputs()));
  }
}

namespace {

nb::object ArrayAt(PyNetwork& self, void* data, std::vector<size_t> shape) {
  return data == nullptr ? nb::none() : NumpyView(data, self.network.dtype(), std::move(shape), nb::find(self));
}

size_t LayerIndex(const PyNetwork& self, int64_t layer) {
  const std::vector<LayerSpec>& layers = self.network.layers();
  if (layer < 0 || layer >= std::ssize(layers)) {
    throw nb::index_error(fmt::format("layer {} of a network with {}", layer, layers.size()).c_str());
  }
  return static_cast<size_t>(layer);
}

nb::object WeightsOf(PyNetwork& self, int64_t layer) {
  const size_t l = LayerIndex(self, layer);
  const LayerSpec& spec = self.network.layers()[l];
  return ArrayAt(self, self.network.Weights(l).data,
                 {static_cast<size_t>(spec.outputs), static_cast<size_t>(spec.inputs)});
}

nb::object VectorAt(PyNetwork& self, int64_t layer, void* (Network::*get)(size_t) const) {
  const size_t l = LayerIndex(self, layer);
  return ArrayAt(self, (self.network.*get)(l), {static_cast<size_t>(self.network.layers()[l].outputs)});
}

using LayerRow = std::tuple<std::string, int64_t, int64_t>;  // neuron, inputs, outputs
std::vector<LayerRow> LayersOf(const PyNetwork& self) {
  std::vector<LayerRow> rows;
  for (const LayerSpec& spec : self.network.layers()) {
    rows.emplace_back(NeuronText(spec), spec.inputs, spec.outputs);
  }
  return rows;
}

/// Steps of one network by one loss and rule, with the optimiser's state; batches of any size.
class Steps {
 public:
  Steps(PyNetwork& network, const std::string& loss, const nb::dict& rule, const std::string& backend, int threads,
        bool first_sums_given)
      : first_sums_given_(first_sums_given),
        network_(network.network),
        loss_(Loss::Parse(loss)),
        rule_(UpdateRuleFrom(rule)),
        backend_(BackendOf(backend, threads)) {
    if (backend_.space() != Space::kHost) {
      throw Error(ErrorCode::kUnsupported, "single steps are computed on the CPU", {.value = backend});
    }
  }

  /// The loss of the batch; with `update`, the parameters then follow their gradients, which are else kept.
  double Step(const InArray& x_array, const InArray& y_array, const nb::object& weights_array, bool update) {
    const DType dtype = network_.dtype();
    const ConstMatrixView x = ViewOfArray(x_array, dtype, "x");
    const ConstMatrixView y = ViewOfArray(y_array, dtype, "y");
    RequireInputs(network_, x);
    if (y.rows != x.rows || y.cols != network_.outputs()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("y is {} x {}, {} x {} is needed", y.rows, y.cols, x.rows, network_.outputs()));
    }
    InArray weights;
    const void* sample_weights = nullptr;
    if (!weights_array.is_none()) {
      weights = nb::cast<InArray>(weights_array);
      sample_weights = VectorOf(weights, dtype, x.rows, "sample_weight");
    }
    const auto step = [&](bool may_end_early) { return StepOf(x, y, sample_weights, update, may_end_early); };
    if (x.rows * (network_.parameter_bytes() / DTypeSize_bytes(dtype)) >= kProductsToInterrupt) {
      return Interruptibly([&] { return step(true); });
    }
    const nb::gil_scoped_release unlocked;
    return step(false);
  }

  nb::object Gradients() {
    const auto count = static_cast<size_t>(network_.parameter_bytes() / DTypeSize_bytes(network_.dtype()));
    return NumpyView(AfterStep().gradients().data(), network_.dtype(), {count}, nb::find(*this));
  }

  /// The first layer's delta for `rows` samples of the last step.
  nb::object FirstDelta(int64_t rows) {
    const Executor& executor = AfterStep();
    if (rows < 0 || rows > executor.max_batch()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} rows of at most {}", rows, executor.max_batch()));
    }
    const MatrixView delta = executor.FirstDelta(rows);
    return NumpyView(delta.data, delta.dtype, {static_cast<size_t>(delta.rows), static_cast<size_t>(delta.cols)},
                     nb::find(*this));
  }

 private:
  static constexpr int64_t kProductsToInterrupt = int64_t{1} << 31;  // of a step: from some hundredths of a second on

  // What is called off in the middle leaves network and optimizer as they were.
  double StepOf(ConstMatrixView x, ConstMatrixView y, const void* sample_weights, bool update, bool may_end_early) {
    const std::lock_guard lock(mutex_);
    Executor& executor = ExecutorFor(x.rows);
    executor.LoadParameters(network_);
    std::vector<AlignedBuffer> states;
    for (int i = 0; may_end_early && update && i < executor.state_count(); ++i) {
      states.emplace_back(executor.state(i).size_bytes());
      backend_.Download(states.back().data(), executor.state(i).data(), states.back().size_bytes());
    }
    LossSums sums;
    rule_.step = update ? updates_ + 1 : 1;
    executor.Step(x, y, sample_weights, update ? &rule_ : nullptr, &sums);
    if (may_end_early && Abandoned()) {
      for (size_t i = 0; i < states.size(); ++i) {
        backend_.Upload(executor.state(static_cast<int>(i)).data(), states[i].data(), states[i].size_bytes());
      }
      return 0;  // of no use: Interruptibly() throws
    }
    if (update) {
      ++updates_;
      executor.StoreParameters(network_);
    }
    return sums.loss / sums.weight;
  }

  Executor& AfterStep() {
    if (executor_ == nullptr) {
      throw Error(ErrorCode::kInvalidArgument, "no gradients yet: call gradient() first");
    }
    return *executor_;
  }

  // Batches grow: the optimiser's state moves on to the larger executor.
  Executor& ExecutorFor(int64_t rows) {
    if (executor_ != nullptr && rows <= executor_->max_batch()) {
      return *executor_;
    }
    ExecutorOptions options;
    options.max_batch = rows;
    options.training = true;
    options.step.loss = loss_;
    options.state_count = rule_.StateCount();
    options.first_sums_given = first_sums_given_;
    auto grown = std::make_unique<Executor>(network_, backend_, options);
    for (int i = 0; executor_ != nullptr && i < grown->state_count(); ++i) {
      backend_.Upload(grown->state(i).data(), executor_->state(i).data(), network_.parameter_bytes());
    }
    executor_ = std::move(grown);
    return *executor_;
  }

  bool first_sums_given_;
  Network& network_;
  Loss loss_;
  UpdateRule rule_;
  const Backend& backend_;
  std::mutex mutex_;
  std::unique_ptr<Executor> executor_;
  int64_t updates_ = 0;
};

/// One row at a time, from any thread.
class RowCall {
 public:
  RowCall(const PyNetwork& network, const std::string& weights)
      : predictor_(network.network, ParseWeightStorage(weights)) {}

  // A call takes a few microseconds at most. So the interpreter's lock is kept, which also keeps the scratch to one
  // caller; without such a lock every call has its own scratch.
  void Call(const InArray& x, const OutArray& y) {
    const void* row = VectorOf(x, predictor_.dtype(), predictor_.inputs(), "x");
    if (y.ndim() != 1 || static_cast<int64_t>(y.shape(0)) != predictor_.outputs() ||
        static_cast<int64_t>(y.itemsize()) != DTypeSize_bytes(predictor_.dtype())) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("out must have {} elements of {}", predictor_.outputs(), DTypeName(predictor_.dtype())));
    }
    thread_local PredictorScratch scratch;
    if (scratch.size_bytes() < predictor_.scratch_bytes()) {
      scratch = predictor_.MakeScratch();
    }
    predictor_.Predict(row, y.data(), scratch);
  }

  const Predictor& predictor() const { return predictor_; }

 private:
  Predictor predictor_;
};

BatchPredictor* MakeBatchPredictor(const PyNetwork& network, const nb::object& input_offsets,
                                   const nb::object& input_scales, const nb::object& output_offsets,
                                   const nb::object& output_scales, const std::string& backend, int threads) {
  const int64_t inputs = network.network.inputs();
  const int64_t outputs = network.network.outputs();
  Scalings scalings{DoublesOf(input_offsets, inputs, "input_offsets"), DoublesOf(input_scales, inputs, "input_scales"),
                    DoublesOf(output_offsets, outputs, "output_offsets"),
                    DoublesOf(output_scales, outputs, "output_scales")};
  return new BatchPredictor(network.network, std::move(scalings), BackendOf(backend, threads), BackendOf("cpu", 1));
}

void BindLayers(nb::module_& module) {
  nb::class_<PyNetwork>(module, "Network", nb::is_weak_referenceable(), "Layers and their parameters.")
      .def(
          "__init__",
          [](PyNetwork* self, const std::string& layers, int64_t inputs, const std::string& dtype) {
            new (self) PyNetwork{Network(ParseLayers(layers, inputs, /*bias=*/true), ParseDType(dtype))};
          },
          nb::arg("layers"), nb::arg("inputs"), nb::arg("dtype") = "f32")
      .def(
          "initialize",
          [](PyNetwork& self, const std::string& name, uint64_t seed) {
            self.network.Initialize(ParseInitialization(name), seed);
          },
          nb::arg("name"), nb::arg("seed"))
      .def_prop_ro("layers", &LayersOf, "(neuron, inputs, outputs) of every layer.")
      .def_prop_ro(
          "text", [](const PyNetwork& self) { return LayersText(self.network.layers()); }, "What makes such layers.")
      .def_prop_ro(
          "residual",
          [](const PyNetwork& self) {
            std::vector<int64_t> counts;
            for (const LayerSpec& spec : self.network.layers()) {
              counts.push_back(spec.residual);
            }
            return counts;
          },
          "For every layer, how many layers the residual block has that ends with it; 0: none.")
      .def_prop_ro("dtype", [](const PyNetwork& self) { return std::string(DTypeName(self.network.dtype())); })
      .def_prop_ro("shape_text", [](const PyNetwork& self) { return self.network.ShapeText(); })
      .def_prop_ro("parameter_count", [](const PyNetwork& self) { return self.network.parameter_count(); })
      .def("weights", &WeightsOf, nb::arg("layer"), "outputs x inputs of a layer; a view.")
      .def(
          "bias", [](PyNetwork& self, int64_t layer) { return VectorAt(self, layer, &Network::Bias); },
          nb::arg("layer"), "A view, or None for a layer without.")
      .def(
          "radii", [](PyNetwork& self, int64_t layer) { return VectorAt(self, layer, &Network::Radii); },
          nb::arg("layer"), "A view, or None for a layer without trained radii.")
      .def(
          "parameters",
          [](PyNetwork& self) {
            const Network& network = self.network;
            const auto count = static_cast<size_t>(network.parameter_bytes() / DTypeSize_bytes(network.dtype()));
            return NumpyView(network.parameters(), network.dtype(), {count}, nb::find(self));
          },
          "All parameters in one array, with the gaps that alignment leaves; a view.")
      .def("offsets", [](const PyNetwork& self) {
        std::vector<std::tuple<int64_t, int64_t, int64_t>> rows;
        for (const LayerOffsets& offsets : self.network.offsets()) {
          rows.emplace_back(offsets.weights, offsets.bias, offsets.radius);
        }
        return rows;
      });
}

void BindSteps(nb::module_& module) {
  nb::class_<Steps>(module, "Steps", nb::is_weak_referenceable(), "Gradients and training steps of a network.")
      .def(nb::init<PyNetwork&, const std::string&, const nb::dict&, const std::string&, int, bool>(),
           nb::arg("network"), nb::arg("loss"), nb::arg("rule"), nb::arg("backend") = "cpu", nb::arg("threads") = 0,
           nb::arg("first_sums_given") = false, nb::keep_alive<1, 2>(),
           "first_sums_given: x of step() is the first layer's Wx, whose weights are not looked at.")
      .def("step", &Steps::Step, nb::arg("x"), nb::arg("y"), nb::arg("sample_weight").none(), nb::arg("update"))
      .def("gradients", &Steps::Gradients,
           "Gradients of the last step without update, laid out as Network.parameters(); a view.")
      .def("first_delta", &Steps::FirstDelta, nb::arg("rows"),
           "The loss' derivative by what the first layer's activation was given, of so many rows of the last step; a "
           "view.");
}

void BindPredictors(nb::module_& module) {
  nb::class_<RowCall>(module, "RowPredictor", "One row at a time.")
      .def(nb::init<const PyNetwork&, const std::string&>(), nb::arg("network"), nb::arg("weights") = "exact")
      .def("__call__", &RowCall::Call, nb::arg("x"), nb::arg("out"))
      .def_prop_ro("inputs", [](const RowCall& self) { return self.predictor().inputs(); })
      .def_prop_ro("outputs", [](const RowCall& self) { return self.predictor().outputs(); });
  nb::class_<BatchPredictor>(module, "BatchPredictor", "Rows of raw numbers in batches of any size.")
      .def(nb::new_(&MakeBatchPredictor), nb::arg("network"), nb::arg("input_offsets").none(),
           nb::arg("input_scales").none(), nb::arg("output_offsets").none(), nb::arg("output_scales").none(),
           nb::arg("backend") = "cpu", nb::arg("threads") = 0)
      .def(
          "__call__",
          [](BatchPredictor& self, const InArray& x, const std::string& dtype, const OutArray& out,
             const std::string& out_dtype) {
            const ConstMatrixView rows = ViewOfArray(x, ParseDType(dtype), "x");
            const MatrixView to = ViewOfArray(out, ParseDType(out_dtype), "out");
            return Interruptibly([&] { return self.Predict(rows, to); });
          },
          nb::arg("x"), nb::arg("dtype"), nb::arg("out"), nb::arg("out_dtype"),
          "Writes the outputs; returns the first row that is not finite, or -1.")
      .def(
          "sparse",
          [](BatchPredictor& self, const SparseRows& x, const OutArray& out, const std::string& out_dtype) {
            const MatrixView to = ViewOfArray(out, ParseDType(out_dtype), "out");
            Interruptibly([&] { self.Predict(x, to); });
          },
          nb::arg("x"), nb::arg("out"), nb::arg("out_dtype"), "Writes the outputs for scaled sparse rows.");
}

}  // namespace

void BindNetwork(nb::module_& module) {
  BindLayers(module);
  BindSteps(module);
  BindPredictors(module);
}

}  // namespace lamina::python
