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

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/cells.h"
#include "lamina/model/answer.h"
#include "lamina/model/c_source/c_source.h"
#include "lamina/model/c_source/int8_rows.h"
#include "lamina/model/explain.h"
#include "lamina/model/html_page/html_page.h"
#include "lamina/model/onnx_export.h"
#include "lamina/model/predictions.h"
#include "lamina/model/predictor.h"
#include "lamina/run/remarks.h"
#include "lamina/run/result_json.h"
#include "lamina/run/run_plan.h"
#include "lamina/run/session.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/settings_text.h"
#include "python/src/best_effort.h"
#include "python/src/bindings.h"
#include "python/src/distill.h"
#include "python/src/interrupts.h"
#include "python/src/machine.h"
#include "python/src/model_rows.h"
#include "python/src/network_type.h"
#include "python/src/py_table.h"
#include "python/src/setting_texts.h"

namespace lamina::python {
namespace {

using nlohmann::json;

struct PyModel {
  Model model;
};

// As the program's flags --missing, --unseen and --by-position.
struct Asked {
  std::string missing;
  std::string unseen;
  bool by_position = false;
  bool csv = false;  // the answers as a file, too
};

nb::dict DictOf(const Model& model, Answers answers, bool csv) {
  nb::dict result;
  if (csv) {
    result["csv"] = PredictionsCsv(model, answers.outputs, {});
  }
  result["notes"] = answers.Notes();
  Matrix classes(std::ssize(answers.classes), 1, DType::kI32);
  std::copy(answers.classes.begin(), answers.classes.end(), static_cast<int32_t*>(classes.data()));
  result["classes"] = NumpyOf(std::move(classes));
  result["outputs"] = NumpyOf(std::move(answers.outputs));
  return result;
}

// `get`: the table, by the model and how texts are read.
template <class Get>
nb::dict Answer(const PyModel& self, const std::string& backend_name, int threads, const Asked& asked, const Get& get) {
  const Backend& backend = BackendOf(backend_name, threads);
  Answers answers = Interruptibly([&] {
    std::optional<Model> other;
    if (!asked.missing.empty() || !asked.unseen.empty()) {
      other = self.model;
      if (!asked.missing.empty()) {
        other->preprocessor.set_missing(ParseMissing(asked.missing));
      }
      if (!asked.unseen.empty()) {
        other->preprocessor.set_unseen(ParseUnseen(asked.unseen));
      }
    }
    const Model& model = other ? *other : self.model;
    auto&& table = get(model);
    return AnswerTable(model, backend, table, AllRowsOf(table));
  });
  return DictOf(self.model, std::move(answers), asked.csv);
}

nb::dict Predict(const PyModel& self, PyTable& table, const std::string& backend, int threads,
                 const std::string& missing, const std::string& unseen, bool by_position) {
  return Answer(self, backend, threads, {missing, unseen, by_position}, [&](const Model& model) -> Table& {
    ReadOptions options;
    if (!by_position) {
      model.preprocessor.AddTo(options);
    }
    table.has_names = table.has_names && !by_position;
    ReadAsCells(table, options, table.texts);
    return table;
  });
}

nb::dict PredictFile(const PyModel& self, const std::string& path, const std::string& backend, int threads,
                     const std::string& missing, const std::string& unseen, bool by_position, const Texts& reading,
                     bool csv) {
  for (const auto& [name, text] : reading) {
    if (!SaysHowRowsAreRead(TrainSettingRow(name))) {
      throw Error(ErrorCode::kInvalidArgument, "does not say how rows are read", {.value = name, .setting = name});
    }
  }
  return Answer(self, backend, threads, {missing, unseen, by_position, csv}, [&](const Model& model) {
    ReadOptions options = ReadOptionsFrom(SettingsOf(reading));
    options.by_position = by_position;
    return ReadTableFor(model, path, options);
  });
}

// Rows that an exported model tests itself with; none where `table` is null and `path` empty.
std::optional<Table> RowsOfTest(const Model& model, PyTable* table, const std::string& path) {
  if (table == nullptr && path.empty()) {
    return std::nullopt;
  }
  Table rows;
  if (table != nullptr) {
    ReadOptions options;
    model.preprocessor.AddTo(options);
    ReadAsCells(*table, options, table->texts);
    rows = *table;
  } else {
    rows = ReadTableFor(model, path);
  }
  model.preprocessor.Prepare(rows);
  return rows;
}

// The files of ToCSource() by name. `table` null and `path` empty: rows of the self-test are made up.
nb::dict ToC(const PyModel& self, const std::string& name, PyTable* table, const std::string& path, bool int8) {
  const CSource made = Interruptibly([&] {
    const std::optional<Table> rows = RowsOfTest(self.model, table, path);
    const Table* const measured = rows ? &*rows : nullptr;
    return ToCSource(int8 ? WithInt8(self.model, measured) : self.model, {.name = name, .rows = measured});
  });
  nb::dict files;
  files[nb::str((name + ".h").c_str())] = made.header;
  files[nb::str((name + ".c").c_str())] = made.source;
  return files;
}

// The page as ToHtml(), with weights as `weights` says; "": as the model has them; `int8`: as ToC().
std::string ToPage(const PyModel& self, const std::string& title, PyTable* table, const std::string& path,
                   const std::string& weights, bool int8) {
  return Interruptibly([&] {
    const std::optional<Table> rows = RowsOfTest(self.model, table, path);
    const PageOptions options{.title = title, .rows = rows ? &*rows : nullptr};
    Model stored = weights.empty() ? self.model : WithWeights(self.model, ParseWeightStorage(weights));
    return ToHtml(int8 ? WithInt8(std::move(stored), options.rows) : stored, options);
  });
}

std::unique_ptr<PyModel> ToDistilled(const PyModel& self, PyTable* table, const std::string& path,
                                     const DistillOptions& options) {
  return Interruptibly([&] {
    const std::optional<Table> rows = RowsOfTest(self.model, table, path);
    return std::make_unique<PyModel>(PyModel{DistilledModel(self.model, rows, options)});
  });
}

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

// What the program prints before the first epoch: the task, each decision with what decides otherwise, what was met.
std::vector<std::string> StartNotes(const TrainSession& session) {
  const TargetEncoder& targets = session.model().preprocessor.targets();
  const size_t classes = targets.class_names().size();
  std::vector<std::string> notes = {
      fmt::format("{}: {}", fmt::join(targets.names(), ", "),
                  classes > 0 ? fmt::format("classification, {} classes", classes) : std::string("regression"))};
  for (const ColumnDecision& decision : session.decisions()) {
    notes.push_back(decision.Text());
  }
  const std::vector<std::string> met = NotesOn(session);
  notes.insert(notes.end(), met.begin(), met.end());
  return notes;
}

// All of it outlives them.
TrainCallbacks CallbacksOf(Interrupts& interrupts, const nb::object& on_epoch, const nb::object& on_progress) {
  TrainCallbacks callbacks;
  callbacks.stop_requested = [&] { return interrupts.Stop(); };
  callbacks.abandon_requested = callbacks.stop_requested;
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
  return callbacks;
}

/// `table` null: settings.data is read. Returns the model, the epochs, why training ended, the evaluation of the test
/// rows as JSON, the notes on what was decided.
nb::tuple Train(const Texts& texts, const PyTable* table, const PyTable* test, const PyTable* validation,
                const nb::object& on_epoch, const nb::object& on_progress) {
  TrainSettings settings = SettingsOf(texts);
  Interrupts interrupts;
  const TrainCallbacks callbacks = CallbacksOf(interrupts, on_epoch, on_progress);
  TrainResult result;
  std::vector<std::string> notes;
  std::string report;
  auto model = std::make_unique<PyModel>();
  const auto read = [&] {
    return table == nullptr ? ReadRawData(settings) : RawDataOf(settings, *table, test, validation);
  };
  BestRun best;
  if (EffortFrom(settings) == Effort::kBest) {
    best = TrainBest(settings, read, interrupts);
    notes = StartNotes(*best.session);
  }
  // What is read and encoded before the first step is of no use by itself; from then on the model so far is kept.
  const std::unique_ptr<TrainSession> session = best.session ? std::move(best.session) : Interruptibly([&] {
    auto made =
        table == nullptr ? std::make_unique<TrainSession>(settings) : std::make_unique<TrainSession>(settings, read());
    notes = StartNotes(*made);
    return made;
  });
  {
    const nb::gil_scoped_release unlocked;
    result = session->Run(callbacks);
    json node = ResultJson(*session, result, /*history=*/false);
    if (!best.cross_validation.is_null()) {
      node["cross_validation"] = std::move(best.cross_validation);
      result.history.stop_reason = best.stopped ? "interrupted" : result.history.stop_reason;
    }
    report = node.dump(-1, ' ', false, json::error_handler_t::replace);
    model->model = session->model();
  }
  interrupts.Finish();
  nb::list epochs;
  for (const EpochRecord& record : result.history.epochs) {
    epochs.append(RecordOf(record));
  }
  return nb::make_tuple(std::move(model), epochs, result.history.best_epoch, result.history.stop_reason, report, notes);
}

std::unique_ptr<PyModel> FromNetwork(const PyNetwork& network, const std::string& loss, const std::string& preprocessor,
                                     const std::vector<const PyNetwork*>& others, const PyNetwork* gates) {
  auto model = std::make_unique<PyModel>();
  model->model.network = network.network;
  for (const PyNetwork* other : others) {
    model->model.others.push_back(other->network);
  }
  if (gates != nullptr) {
    model->model.gates = gates->network;
  }
  model->model.loss = Loss::Parse(loss);
  if (!preprocessor.empty()) {
    model->model.preprocessor = Preprocessor::FromJson(json::parse(preprocessor));
  }
  model->model.training = json::object();
  return model;
}

// Model, but for what its members are called.
nb::class_<PyModel> BindAnswers(nb::module_& module) {
  nb::class_<ModelRows>(module, "ModelRows", "Raw rows of numbers, one at a time.")
      .def(
          "__init__", [](ModelRows* self, const PyModel& model) { new (self) ModelRows(model.model); },
          nb::arg("model"))
      .def("__call__", &ModelRows::Call, nb::arg("x"), nb::arg("out"))
      .def_prop_ro("inputs", [](const ModelRows& self) { return self.predictor().columns(); })
      .def_prop_ro("outputs", [](const ModelRows& self) { return self.predictor().outputs(); });
  return nb::class_<PyModel>(module, "Model", "A network with its preprocessing.")
      .def_static(
          "load", [](const std::string& path) { return std::make_unique<PyModel>(PyModel{LoadModel(path)}); },
          nb::arg("path"))
      .def_static("from_network", &FromNetwork, nb::arg("network"), nb::arg("loss"), nb::arg("preprocessor") = "",
                  nb::arg("others") = std::vector<const PyNetwork*>(), nb::arg("gates").none() = nb::none())
      .def(
          "save", [](const PyModel& self, const std::string& path) { SaveModel(path, self.model); }, nb::arg("path"))
      .def("to_onnx",
           [](const PyModel& self) {
             const std::string bytes = ToOnnx(self.model);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("to_c", &ToC, nb::arg("name"), nb::arg("table").none(), nb::arg("path"), nb::arg("int8"))
      .def("to_html", &ToPage, nb::arg("title"), nb::arg("table").none(), nb::arg("path"), nb::arg("weights"),
           nb::arg("int8"))
      .def("distill", &ToDistilled, nb::arg("table").none(), nb::arg("path"), nb::arg("options"))
      .def("predict", &Predict, nb::arg("table"), nb::arg("backend") = "auto", nb::arg("threads") = 0,
           nb::arg("missing") = "", nb::arg("unseen") = "", nb::arg("by_position") = false)
      .def("predict_file", &PredictFile, nb::arg("path"), nb::arg("backend") = "auto", nb::arg("threads") = 0,
           nb::arg("missing") = "", nb::arg("unseen") = "", nb::arg("by_position") = false,
           nb::arg("reading") = Texts(), nb::arg("csv") = false)
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
          "Copies of all networks: more than one of an ensemble, whose answer is the sum of theirs times `shares`.");
}

}  // namespace

void BindModel(nb::module_& module) {
  BindEncoder(module);
  BindDistillOptions(module);
  BindAnswers(module)
      .def_prop_ro("shape_text", [](const PyModel& self) { return self.model.ShapeText(); })
      .def_prop_ro("learned_weights", [](const PyModel& self) { return LearnedWeights(self.model); })
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
}

}  // namespace lamina::python
