// Models with their preprocessing: files, tables, ONNX, and training with every setting of the program.
#include "lamina/model/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/answer.h"
#include "lamina/model/onnx_export.h"
#include "lamina/model/predictor.h"
#include "lamina/train/remarks.h"
#include "lamina/train/run_plan.h"
#include "lamina/train/session.h"
#include "lamina/train/settings_text.h"
#include "python/src/bindings.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/network_type.h"

namespace lamina::python {
namespace {

using nlohmann::json;

// Keeps an array until the last table that views it is gone, on whatever thread.
std::shared_ptr<const void> KeptAlive(const nb::object& array) {
  return {array.inc_ref().ptr(), [](const void* object) {
            const nb::gil_scoped_acquire lock;
            nb::handle(static_cast<PyObject*>(const_cast<void*>(object))).dec_ref();
          }};
}

void RequireRows(Table& table, const std::string& name, int64_t rows) {
  if (!table.columns.empty() && table.rows != rows) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("column '{}' has {} rows, those before it {}", name, rows, table.rows));
  }
  table.rows = rows;
}

void AddNumbers(Table& table, const std::string& name, const nb::object& object, const std::string& dtype,
                bool is_date) {
  const InArray array = nb::cast<InArray>(object);
  Column column;
  column.dtype = ParseDType(dtype);
  if (array.ndim() != 1 || static_cast<int64_t>(array.itemsize()) != DTypeSize_bytes(column.dtype)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("column '{}' is not a 1-d array of {}", name, dtype));
  }
  RequireRows(table, name, static_cast<int64_t>(array.shape(0)));
  column.name = name;
  column.is_date = is_date;
  column.numbers = array.data();
  column.stride = table.rows > 1 ? array.stride(0) : 1;
  column.owner = KeptAlive(object);
  table.columns.push_back(std::move(column));
}

void AddTexts(Table& table, const std::string& name, const InArray& codes, std::vector<std::string> categories) {
  const auto* first = static_cast<const int32_t*>(
      VectorOf(codes, DType::kI32, codes.ndim() == 1 ? static_cast<int64_t>(codes.shape(0)) : -1, "codes"));
  Column column;
  column.kind = ColumnKind::kText;
  column.name = name;
  column.codes.assign(first, first + codes.shape(0));
  column.categories = std::move(categories);
  for (const int32_t code : column.codes) {
    if (code < -1 || code >= std::ssize(column.categories)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("column '{}' has a code without a category", name),
                  {.value = std::to_string(code)});
    }
  }
  RequireRows(table, name, std::ssize(column.codes));
  table.columns.push_back(std::move(column));
}

struct PyModel {
  Model model;
};

nb::dict Predict(const PyModel& self, Table& table, const std::string& backend_name, int threads) {
  const Backend& backend = BackendOf(backend_name, threads);
  Answers answers;
  {
    const nb::gil_scoped_release unlocked;
    answers = AnswerTable(self.model, backend, table, AllRowsOf(table));
  }
  nb::dict result;
  result["outputs"] = NumpyOf(std::move(answers.outputs));
  Matrix classes(std::ssize(answers.classes), 1, DType::kI32);
  std::copy(answers.classes.begin(), answers.classes.end(), static_cast<int32_t*>(classes.data()));
  result["classes"] = NumpyOf(std::move(classes));
  return result;
}

/// Input columns as numbers, without a target that matters.
struct Encoder {
  Preprocessor preprocessor;
};

std::unique_ptr<Encoder> FitEncoder(const Table& table, const std::string& target, const std::string& missing,
                                    const std::string& unseen) {
  PreprocessOptions options;
  options.targets = {target};
  options.task = Task::kRegression;
  options.missing = ParseMissing(missing);
  options.unseen = unseen == "zero" ? UnseenPolicy::kZero : UnseenPolicy::kError;
  return std::make_unique<Encoder>(Encoder{Preprocessor::Fit(table, AllRowsOf(table), options)});
}

nb::object EncodeTable(const Encoder& self, const Table& table) {
  Dataset encoded;
  {
    const nb::gil_scoped_release unlocked;
    encoded = BoundTable(self.preprocessor, table).EncodeInputs(AllRowsOf(table), DType::kF64);
  }
  return NumpyOf(std::move(encoded.features));
}

/// Raw rows of numbers, one at a time.
class ModelRows {
 public:
  explicit ModelRows(const PyModel& model) : predictor_(model.model) {}

  void Call(const InArray& x, const OutArray& y) {
    const auto* row = static_cast<const double*>(VectorOf(x, DType::kF64, predictor_.columns(), "x"));
    if (y.ndim() != 1 || static_cast<int64_t>(y.shape(0)) != predictor_.outputs() || y.itemsize() != sizeof(double)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("out must have {} elements of f64", predictor_.outputs()));
    }
    thread_local PredictorScratch scratch;
    if (scratch.size_bytes() < predictor_.scratch_bytes()) {
      scratch = predictor_.MakeScratch();
    }
    const int64_t wrong = predictor_.Predict(row, static_cast<double*>(y.data()), scratch);
    if (wrong == RowPredictor::kNotFinite) {
      throw Error(ErrorCode::kBadData, "the answer is not a finite number", {.remedy = kNotFiniteRemedy});
    }
    if (wrong >= 0) {
      throw Error(ErrorCode::kBadData, fmt::format("the number in column {} is missing or too large", wrong));
    }
  }
  const RowPredictor& predictor() const { return predictor_; }

 private:
  RowPredictor predictor_;
};

nb::dict RecordOf(const EpochRecord& record) {
  nb::dict row;
  row["epoch"] = record.epoch;
  row["learning_rate"] = record.learning_rate;
  row["train_loss"] = record.train_loss;
  row["train_accuracy"] = record.train_accuracy;
  row["validation_loss"] = record.validation_loss;
  row["validation_accuracy"] = record.validation_accuracy;
  row["train_seconds"] = record.train_seconds;
  row["validation_seconds"] = record.validation_seconds;
  row["samples_per_second"] = record.samples_per_second;
  return row;
}

TrainSettings SettingsOf(const std::vector<std::pair<std::string, std::string>>& texts) {
  TrainSettings settings;
  for (const auto& [name, text] : texts) {
    SetSetting(settings, name, text);
  }
  return settings;
}

// What the program prints before the first epoch: the task, and each decision with what decides otherwise.
std::vector<std::string> NotesOn(const TrainSession& session) {
  const TargetEncoder& targets = session.model().preprocessor.targets();
  const size_t classes = targets.class_names().size();
  std::vector<std::string> notes = {
      fmt::format("{}: {}", fmt::join(targets.names(), ", "),
                  classes > 0 ? fmt::format("classification, {} classes", classes) : std::string("regression"))};
  for (const ColumnDecision& decision : session.decisions()) {
    notes.push_back(fmt::format("{}: {} (else {})", decision.column, decision.what, decision.otherwise));
  }
  if (const int64_t rows = session.left_out_rows(); rows > 0) {
    notes.push_back(fmt::format("{} rows left out: a value is missing", rows));
  }
  return notes;
}

/// `table` null: settings.data is read. Returns the model, the epochs, why training ended, the evaluation of the test
/// rows as JSON, the notes on what was decided, the remarks on the result.
nb::tuple Train(const std::vector<std::pair<std::string, std::string>>& texts, const Table* table, const Table* test,
                const Table* validation, const nb::object& on_epoch, const nb::object& on_progress) {
  TrainSettings settings = SettingsOf(texts);
  Interrupts interrupts;
  TrainCallbacks callbacks;
  callbacks.stop_requested = [&] { return interrupts.Stop(); };
  if (!on_epoch.is_none()) {
    callbacks.epoch_done = [&](const EpochRecord& record) {
      interrupts.Guarded([&] { return nb::cast<bool>(on_epoch(RecordOf(record))); });
    };
  }
  if (!on_progress.is_none()) {
    callbacks.progress = [&](const TrainProgress& progress) {
      interrupts.Guarded([&] {
        on_progress(progress.epoch, progress.epochs, progress.step, progress.steps);
        return false;
      });
    };
  }
  TrainResult result;
  std::vector<std::string> notes;
  std::vector<std::string> remarks;
  auto model = std::make_unique<PyModel>();
  {
    const nb::gil_scoped_release unlocked;
    std::unique_ptr<TrainSession> session;
    if (table == nullptr) {
      session = std::make_unique<TrainSession>(settings);
    } else {
      RawData raw;
      raw.main.train = *table;
      if (test != nullptr) {
        raw.main.test = *test;
      }
      if (validation != nullptr) {
        raw.validation = *validation;
      }
      const DeriveOptions derive = SourcesFrom(settings).derive;
      DeriveColumns(raw.main.train, derive);
      for (std::optional<Table>* other : {&raw.main.test, &raw.validation}) {
        if (other->has_value()) {
          DeriveColumns(**other, derive);
        }
      }
      session = std::make_unique<TrainSession>(settings, raw);
    }
    notes = NotesOn(*session);
    result = session->Run(callbacks);
    remarks = RemarksOn(*session, result);
    model->model = session->model();
  }
  interrupts.Finish();
  nb::list epochs;
  for (const EpochRecord& record : result.history.epochs) {
    epochs.append(RecordOf(record));
  }
  return nb::make_tuple(
      std::move(model), epochs, result.history.best_epoch, result.history.stop_reason,
      result.test ? ToJson(*result.test).dump(-1, ' ', false, json::error_handler_t::replace) : std::string("null"),
      notes, remarks);
}

std::unique_ptr<PyModel> FromNetwork(const PyNetwork& network, const std::string& loss,
                                     const std::string& preprocessor) {
  auto model = std::make_unique<PyModel>();
  model->model.network = network.network;
  model->model.loss = Loss::Parse(loss);
  if (!preprocessor.empty()) {
    model->model.preprocessor = Preprocessor::FromJson(json::parse(preprocessor));
  }
  model->model.training = json::object();
  return model;
}

}  // namespace

void BindModel(nb::module_& module) {
  nb::class_<Table>(module, "Table", "Named columns of numbers or texts.")
      .def(
          "__init__",
          [](Table* self, const std::string& source) {
            new (self) Table();
            self->source = source;
          },
          nb::arg("source"))
      .def("add_numbers", &AddNumbers, nb::arg("name"), nb::arg("array"), nb::arg("dtype"), nb::arg("is_date") = false,
           "A view of a 1-d array with any stride; NaN is missing.")
      .def("add_texts", &AddTexts, nb::arg("name"), nb::arg("codes"), nb::arg("categories"), "Code -1 is missing.")
      .def("__len__", [](const Table& self) { return self.rows; })
      .def_prop_ro("columns", &Table::ColumnNames);
  nb::class_<Encoder>(module, "Encoder", "Tables as rows of numbers.")
      .def(nb::new_(&FitEncoder), nb::arg("table"), nb::arg("target"), nb::arg("missing"), nb::arg("unseen"))
      .def_static(
          "from_json",
          [](const std::string& text) {
            return std::make_unique<Encoder>(Encoder{Preprocessor::FromJson(json::parse(text))});
          },
          nb::arg("text"))
      .def("encode", &EncodeTable, nb::arg("table"), "rows x numbers, f64.")
      .def_prop_ro("json", [](const Encoder& self) { return self.preprocessor.ToJson().dump(); });
  nb::class_<ModelRows>(module, "ModelRows", "Raw rows of numbers, one at a time.")
      .def(nb::init<const PyModel&>(), nb::arg("model"))
      .def("__call__", &ModelRows::Call, nb::arg("x"), nb::arg("out"))
      .def_prop_ro("inputs", [](const ModelRows& self) { return self.predictor().columns(); })
      .def_prop_ro("outputs", [](const ModelRows& self) { return self.predictor().outputs(); });
  nb::class_<PyModel>(module, "Model", "A network with its preprocessing.")
      .def_static(
          "load", [](const std::string& path) { return std::make_unique<PyModel>(PyModel{LoadModel(path)}); },
          nb::arg("path"))
      .def_static("from_network", &FromNetwork, nb::arg("network"), nb::arg("loss"), nb::arg("preprocessor") = "")
      .def(
          "save", [](const PyModel& self, const std::string& path) { SaveModel(path, self.model); }, nb::arg("path"))
      .def("to_onnx",
           [](const PyModel& self) {
             const std::string bytes = ToOnnx(self.model);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("predict", &Predict, nb::arg("table"), nb::arg("backend") = "auto", nb::arg("threads") = 0)
      .def(
          "network",
          [](const PyModel& self) {
            RefuseEnsemble(self.model, "a copy of its one network");
            return std::make_unique<PyNetwork>(PyNetwork{self.model.network});
          },
          "A copy of the network; of an ensemble see networks().")
      .def(
          "networks",
          [](const PyModel& self) {
            std::vector<std::unique_ptr<PyNetwork>> networks;
            for (int64_t i = 0; i < self.model.networks(); ++i) {
              networks.push_back(std::make_unique<PyNetwork>(PyNetwork{self.model.network_at(i)}));
            }
            return networks;
          },
          "Copies of all networks: more than one of an ensemble, whose answer is the sum of theirs times `shares`.")
      .def_prop_ro("shape_text", [](const PyModel& self) { return self.model.ShapeText(); })
      .def_prop_ro("shares",
                   [](const PyModel& self) {
                     std::vector<double> shares;
                     for (int64_t i = 0; i < self.model.networks(); ++i) {
                       shares.push_back(self.model.share_of(i));
                     }
                     return shares;
                   })
      .def_prop_ro("loss", [](const PyModel& self) { return self.model.loss.Text(); })
      .def_prop_ro("class_names", [](const PyModel& self) { return self.model.preprocessor.targets().class_names(); })
      .def_prop_ro("target_names", [](const PyModel& self) { return self.model.preprocessor.targets().answer_names(); })
      .def_prop_ro("text_columns", [](const PyModel& self) { return self.model.preprocessor.TextColumns(); })
      .def_prop_ro("input_columns",
                   [](const PyModel& self) {
                     std::vector<std::string> names;
                     for (const FittedColumn& column : self.model.preprocessor.inputs().columns()) {
                       names.push_back(column.name);
                     }
                     return names;
                   })
      .def_prop_ro("preprocessor", [](const PyModel& self) { return self.model.preprocessor.ToJson().dump(); })
      .def_prop_ro("training", [](const PyModel& self) {
        return self.model.training.dump(-1, ' ', false, json::error_handler_t::replace);
      });
  module.def("train", &Train, nb::arg("settings"), nb::arg("table").none(), nb::arg("test").none(),
             nb::arg("validation").none(), nb::arg("on_epoch").none(), nb::arg("on_progress").none(),
             "One run of the program's command train.");
  module.def(
      "setting_names",
      [] {
        std::vector<std::string> names;
        for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
          names.emplace_back(row.name);
        }
        return names;
      },
      "Of the program's command train.");
}

}  // namespace lamina::python
