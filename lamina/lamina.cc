// The C interface: exceptions become return values and a text for each thread.
#include "lamina/lamina.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/answer.h"
#include "lamina/model/cell_rows.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"

struct lamina_model {
  explicit lamina_model(lamina::Model loaded)
      : model(std::move(loaded)), predictor(model, model.weights, lamina::RowPredictor::Rows::kEncoded) {
    for (const lamina::FittedColumn& column : model.preprocessor.inputs().columns()) {
      input_names.push_back(column.name);
    }
    if (model.preprocessor.inputs().count() > 0) {
      columns = lamina::CellColumnsOf(model);
    }
    output_names = NamesOfOutputs();
    model.network = lamina::Network();  // the predictor has them
    model.others.clear();
    model.gates.reset();
    for (int64_t i = static_cast<int64_t>(input_names.size()); i < predictor.columns(); ++i) {
      input_names.push_back("x" + std::to_string(i));  // a network that is not fed from raw rows
    }
  }

  std::vector<std::string> NamesOfOutputs() const {
    const lamina::TargetEncoder& targets = model.preprocessor.targets();
    std::vector<std::string> names;
    for (int64_t j = 0; j < predictor.outputs() && input_names.empty(); ++j) {
      names.push_back("y" + std::to_string(j));  // a bare network
    }
    if (!names.empty()) {
      return names;
    }
    names = targets.task() == lamina::Task::kRegression ? targets.answer_names() : targets.class_names();
    if (targets.form().single_output) {
      names.erase(names.begin());
    }
    return names;
  }

  lamina::Model model;
  lamina::RowPredictor predictor;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::vector<lamina::CellColumn> columns;  // of rows of texts
};

namespace {

std::string& ErrorText() {
  thread_local std::string text;
  return text;
}

std::string& NotesText() {
  thread_local std::string text;
  return text;
}

// Room for one call with so many rows. It is on the stack where that is small, else this thread's own for the largest
// that it has asked for. Few rows together are as quick as many where the weights stay in the cache.
class RoomFor {
 public:
  RoomFor(const lamina_model& model, int64_t rows) {
    const int64_t row_bytes = model.predictor.scratch_bytes();
    const int64_t together = std::min(rows, model.predictor.together());
    const int64_t on_stack = std::min(together, kOnStack_bytes / row_bytes);
    if (on_stack == together || on_stack >= kEnoughRows) {
      room_ = {own_, on_stack};
      return;
    }
    thread_local lamina::PredictorScratch scratch;
    if (scratch.size_bytes() < together * row_bytes) {
      scratch = lamina::PredictorScratch(together * row_bytes);
    }
    room_ = {scratch.data(), together};
  }
  lamina::RowPredictor::Room room() const { return room_; }

 private:
  static constexpr int64_t kOnStack_bytes = 16 << 10;
  static constexpr int64_t kEnoughRows = 6;
  alignas(64) char own_[kOnStack_bytes];
  lamina::RowPredictor::Room room_;
};

const char* NameAt(const std::vector<std::string>& names, int64_t index) {
  return index >= 0 && index < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(index)].c_str() : nullptr;
}

// The fitted column behind one of the cells; null out of range, or where others are made from it.
const lamina::FittedColumn* FittedAt(const lamina_model* model, int64_t column) {
  return model == nullptr || column < 0 || column >= static_cast<int64_t>(model->columns.size())
             ? nullptr
             : model->columns[static_cast<size_t>(column)].fitted;
}

[[noreturn]] void Refuse(const std::string& what) { throw lamina::Error(lamina::ErrorCode::kInvalidArgument, what); }

// What both calls for answers cannot do without.
void RequireRows(const lamina_model* model, const void* in, int64_t rows, const double* outputs) {
  if (model == nullptr) {
    Refuse("the model is NULL");
  }
  if (rows < 0) {
    Refuse("the number of rows is " + std::to_string(rows));
  }
  if (rows > 0 && (in == nullptr || outputs == nullptr)) {
    Refuse(in == nullptr ? "the rows are NULL" : "the outputs are NULL");
  }
}

[[noreturn]] void ThrowNotFinite(int64_t row) {
  throw lamina::Error(lamina::ErrorCode::kBadModel,
                      fmt::format("the network's answer to row {} (counted from 0) is not a finite number", row),
                      {.remedy = lamina::kNotFiniteRemedy});
}

// Rows without an answer are NaN.
lamina::Answers AnswerCells(const lamina_model& model, std::span<const std::string_view> cells) {
  lamina::Table table = lamina::TableOfCells(model.model, cells);
  model.model.preprocessor.Prepare(table);
  const lamina::BoundTable bound(model.model.preprocessor, table);
  lamina::Answers answers;
  answers.rows = lamina::AllRowsOf(table);
  const lamina::Dataset inputs = bound.EncodeInputs(answers.rows, model.predictor.dtype(), &answers.report);
  answers.without_answer = lamina::LeftOutOf(bound, answers.rows, inputs.rows, /*with_targets=*/false);
  const int64_t outputs = model.predictor.outputs();
  answers.outputs = lamina::Matrix(table.rows, outputs, lamina::DType::kF64);
  std::fill_n(answers.outputs.Row<double>(0), table.rows * outputs, lamina::kNaN);
  lamina::Matrix found(inputs.size(), outputs, lamina::DType::kF64);
  const RoomFor room(model, inputs.size());
  const int64_t wrong =
      model.predictor.PredictEncoded(inputs.features.data(), inputs.size(), found.Row<double>(0), room.room()).row;
  if (wrong >= 0) {
    ThrowNotFinite(inputs.rows[static_cast<size_t>(wrong)]);
  }
  for (int64_t i = 0; i < inputs.size(); ++i) {
    std::copy_n(found.Row<double>(i), outputs, answers.outputs.Row<double>(inputs.rows[static_cast<size_t>(i)]));
  }
  return answers;
}

// Calls fn; what it throws becomes the error text and `failed`.
template <class Fn, class R>
R Guarded(R failed, const Fn& fn) noexcept {
  try {
    return fn();
  } catch (const std::exception& error) {
    try {
      ErrorText() = error.what();
    } catch (...) {  // no memory for the text
      ErrorText().clear();
    }
  } catch (...) {
    ErrorText().clear();
  }
  return failed;
}

}  // namespace

lamina_model* lamina_load(const char* path) { return lamina_load_weights(path, nullptr); }

lamina_model* lamina_load_weights(const char* path, const char* weights) {
  return Guarded(static_cast<lamina_model*>(nullptr), [&] {
    if (path == nullptr) {
      throw lamina::Error(lamina::ErrorCode::kInvalidArgument, "the path of the model is NULL");
    }
    lamina::Model model = lamina::LoadModel(path);
    return new lamina_model(weights == nullptr
                                ? std::move(model)
                                : lamina::WithWeights(std::move(model), lamina::ParseWeightStorage(weights)));
  });
}

lamina_model* lamina_load_memory(const void* bytes, int64_t size) {
  return Guarded(static_cast<lamina_model*>(nullptr), [&] {
    if (bytes == nullptr || size < 0) {
      Refuse(bytes == nullptr ? "the bytes of the model are NULL" : "the size of the model is below 0");
    }
    const std::string source = "a model in memory";
    std::string content(static_cast<const char*>(bytes), static_cast<size_t>(size));
    return new lamina_model(lamina::ModelFrom(lamina::SafetensorsFile::Parse(std::move(content), source), source));
  });
}

const char* lamina_weights(const lamina_model* model) {
  return model == nullptr ? nullptr : lamina::WeightStorageName(model->model.weights).data();
}

void lamina_free(lamina_model* model) { delete model; }

int64_t lamina_inputs(const lamina_model* model) { return model == nullptr ? 0 : model->predictor.columns(); }

const char* lamina_input_name(const lamina_model* model, int64_t input) {
  return model == nullptr ? nullptr : NameAt(model->input_names, input);
}

int64_t lamina_columns(const lamina_model* model) {
  return model == nullptr ? 0 : static_cast<int64_t>(model->columns.size());
}

const char* lamina_column_name(const lamina_model* model, int64_t column) {
  return column < 0 || column >= lamina_columns(model) ? nullptr
                                                       : model->columns[static_cast<size_t>(column)].name.c_str();
}

const char* lamina_column_kind(const lamina_model* model, int64_t column) {
  if (column < 0 || column >= lamina_columns(model)) {
    return nullptr;
  }
  const lamina::FittedColumn* fitted = model->columns[static_cast<size_t>(column)].fitted;
  // What others are made from is as its cells show: text is any of them.
  return fitted == nullptr || fitted->kind == lamina::ColumnKind::kText ? "text" : fitted->is_date ? "date" : "number";
}

int64_t lamina_column_choices(const lamina_model* model, int64_t column) {
  const lamina::FittedColumn* fitted = FittedAt(model, column);
  return fitted == nullptr ? 0 : static_cast<int64_t>(fitted->categories.size());
}

const char* lamina_column_choice(const lamina_model* model, int64_t column, int64_t choice) {
  const lamina::FittedColumn* fitted = FittedAt(model, column);
  return fitted == nullptr ? nullptr : NameAt(fitted->categories, choice);
}

int lamina_column_range(const lamina_model* model, int64_t column, double* low, double* high) {
  const lamina::FittedColumn* fitted = FittedAt(model, column);
  if (fitted == nullptr || !fitted->span || low == nullptr || high == nullptr) {
    return 1;
  }
  *low = fitted->span->low;
  *high = fitted->span->high;
  return 0;
}

int64_t lamina_outputs(const lamina_model* model) { return model == nullptr ? 0 : model->predictor.outputs(); }

const char* lamina_output_name(const lamina_model* model, int64_t output) {
  return model == nullptr ? nullptr : NameAt(model->output_names, output);
}

int lamina_predict(const lamina_model* model, const double* row, int64_t rows, double* outputs) {
  return Guarded(1, [&] {
    RequireRows(model, row, rows, outputs);
    if (!model->predictor.takes_numbers()) {
      throw lamina::Error(lamina::ErrorCode::kUnsupported,
                          lamina::RowEncoder::Accepts(model->model.preprocessor).reason,
                          {.remedy = "Ask lamina_predict_text."});
    }
    const RoomFor room(*model, rows);
    const auto [wrong, column] = model->predictor.PredictRowsAt(row, rows, outputs, room.room());
    if (wrong >= 0 && column == lamina::RowPredictor::kNotFinite) {
      ThrowNotFinite(wrong);
    }
    if (wrong >= 0) {
      const double number = row[wrong * model->predictor.columns() + column];
      const bool missing = number != number;
      throw lamina::Error(
          lamina::ErrorCode::kBadData,
          (missing ? "missing value in row " : "number too large in row ") + std::to_string(wrong) +
              " (counted from 0)",
          {.column = model->input_names[static_cast<size_t>(column)],
           .value = missing ? "" : fmt::format("{}", number),
           .remedy = missing ? "The model fills gaps only when it is trained with --missing mean." : ""});
    }
    return 0;
  });
}

int lamina_predict_text(const lamina_model* model, const char* const* cells, int64_t rows, double* outputs) {
  NotesText().clear();
  return Guarded(1, [&] {
    RequireRows(model, cells, rows, outputs);
    if (rows == 0) {
      return 0;
    }
    lamina::RequireRawRows(model->model);
    std::vector<std::string_view> texts;
    for (int64_t i = 0; i < rows * lamina_columns(model); ++i) {
      texts.emplace_back(cells[i] == nullptr ? "" : cells[i]);
    }
    const lamina::Answers answers = AnswerCells(*model, texts);
    for (const std::string& note : answers.Notes()) {
      NotesText() += lamina::WithoutControls(note) + "\n";
    }
    std::copy_n(answers.outputs.Row<double>(0), rows * lamina_outputs(model), outputs);
    return 0;
  });
}

const char* lamina_notes(void) { return NotesText().c_str(); }

int64_t lamina_classes(const lamina_model* model) {
  return model == nullptr ? 0 : static_cast<int64_t>(model->model.preprocessor.targets().class_names().size());
}

const char* lamina_class_name(const lamina_model* model, int64_t index) {
  return model == nullptr ? nullptr : NameAt(model->model.preprocessor.targets().class_names(), index);
}

int64_t lamina_class_of(const lamina_model* model, const double* outputs) {
  return lamina_classes(model) == 0 || outputs == nullptr
             ? -1
             : model->model.preprocessor.targets().ClassOf({outputs, static_cast<size_t>(lamina_outputs(model))});
}

int lamina_interval(const lamina_model* model, const double* outputs, double* lower, double* upper) {
  if (model == nullptr || !model->model.intervals || outputs == nullptr || lower == nullptr || upper == nullptr) {
    return 1;
  }
  for (size_t j = 0; j < model->model.intervals->half_widths.size(); ++j) {
    lower[j] = outputs[j] - model->model.intervals->half_widths[j];
    upper[j] = outputs[j] + model->model.intervals->half_widths[j];
  }
  return 0;
}

const char* lamina_error(void) { return ErrorText().c_str(); }

const char* lamina_version(void) {
  static const std::string version(lamina::Version());
  return version.c_str();
}
