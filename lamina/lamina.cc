// The C interface: exceptions become return values and a text for each thread.
#include "lamina/lamina.h"

#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

#include "lamina/base/version.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"

struct lamina_model {
  explicit lamina_model(lamina::Model loaded)
      : model(std::move(loaded)), predictor(model), input_names(model.preprocessor.inputs().Names()) {
    model.network = lamina::Network();  // the predictor has them
    model.others.clear();
    for (int64_t i = static_cast<int64_t>(input_names.size()); i < predictor.columns(); ++i) {
      input_names.push_back("x" + std::to_string(i));  // a network that is not fed from raw rows
    }
  }

  lamina::Model model;
  lamina::RowPredictor predictor;
  std::vector<std::string> input_names;
};

namespace {

std::string& ErrorText() {
  thread_local std::string text;
  return text;
}

// Room for the largest model that this thread has asked.
lamina::PredictorScratch& ScratchFor(const lamina_model& model) {
  thread_local lamina::PredictorScratch scratch;
  if (scratch.size_bytes() < model.predictor.scratch_bytes()) {
    scratch = model.predictor.MakeScratch();
  }
  return scratch;
}

const char* NameAt(const std::vector<std::string>& names, int64_t index) {
  return index >= 0 && index < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(index)].c_str() : nullptr;
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

const char* lamina_weights(const lamina_model* model) {
  return model == nullptr ? nullptr : lamina::WeightStorageName(model->model.weights).data();
}

void lamina_free(lamina_model* model) { delete model; }

int64_t lamina_inputs(const lamina_model* model) { return model == nullptr ? 0 : model->predictor.columns(); }

const char* lamina_input_name(const lamina_model* model, int64_t input) {
  return model == nullptr ? nullptr : NameAt(model->input_names, input);
}

int64_t lamina_outputs(const lamina_model* model) { return model == nullptr ? 0 : model->predictor.outputs(); }

int lamina_predict(const lamina_model* model, const double* row, int64_t rows, double* outputs) {
  return Guarded(1, [&] {
    const auto refuse = [](const std::string& what) { throw lamina::Error(lamina::ErrorCode::kInvalidArgument, what); };
    if (model == nullptr) {
      refuse("the model is NULL");
    }
    if (rows < 0) {
      refuse("the number of rows is " + std::to_string(rows));
    }
    if (rows > 0 && (row == nullptr || outputs == nullptr)) {
      refuse(row == nullptr ? "the rows are NULL" : "the outputs are NULL");
    }
    lamina::PredictorScratch& scratch = ScratchFor(*model);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t columns = model->predictor.columns();
      const double* numbers = row + i * columns;
      const int64_t bad = model->predictor.Predict(numbers, outputs + i * model->predictor.outputs(), scratch);
      if (bad == lamina::RowPredictor::kNotFinite) {
        throw lamina::Error(
            lamina::ErrorCode::kBadModel,
            "the network's answer to row " + std::to_string(i) + " (counted from 0) is not a finite number",
            {.remedy = lamina::kNotFiniteRemedy});
      }
      if (bad >= 0) {
        const bool missing = numbers[bad] != numbers[bad];
        throw lamina::Error(
            lamina::ErrorCode::kBadData,
            (missing ? "missing value in row " : "number too large in row ") + std::to_string(i) + " (counted from 0)",
            {.column = model->input_names[static_cast<size_t>(bad)],
             .value = missing ? "" : fmt::format("{}", numbers[bad]),
             .remedy = missing ? "The model fills gaps only when it is trained with --missing mean." : ""});
      }
    }
    return 0;
  });
}

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

const char* lamina_error(void) { return ErrorText().c_str(); }

const char* lamina_version(void) {
  static const std::string version(lamina::Version());
  return version.c_str();
}
