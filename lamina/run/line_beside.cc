// Ridges are compared by halves. Rows of a kernel machine are answered by lines through nine tenths of them.
#include "lamina/run/line_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "lamina/base/convert.h"
#include "lamina/data/encode/line_fit.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/run/line_first.h"
#include "lamina/run/share_beside.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"

namespace lamina {
namespace {

constexpr const char* kBesideKey = "line_beside";
constexpr int64_t kLeastLeftOut = 100;
constexpr double kRidges[] = {1e-6, 1e-3, 0.01, 0.1, 1};  // times the rows
constexpr int64_t kRowsCompared = 2000;
constexpr int64_t kTenths = 10;
constexpr ShareRule kShareOfLineBeside = {0, 1};

double SumOf(const Matrix& numbers) {
  const double* const all = numbers.Row<double>(0);
  return std::accumulate(all, all + numbers.rows() * numbers.cols(), 0.0);
}

// A share of the rows.
double RidgeFor(const Dataset& train) {
  const Dataset rows = EvenRows(train, kRowsCompared);
  const Matrix x = InDoubles(rows.features.view());
  const Matrix y = InDoubles(rows.targets.view());
  const auto errors = [&](double ridge) {
    return SumOf(SquaredErrorsOfHalves(x, y, ridge * static_cast<double>(x.rows()) / 2));
  };
  return *std::ranges::min_element(kRidges, {}, errors);
}

LineFit FitTo(const Matrix& x, const Matrix& y, double ridge) {
  return {x, y, 0, 1, ridge * static_cast<double>(x.rows())};
}

void Answer(const LineFit& line, const Matrix& x, int64_t begin, int64_t step, Matrix& answers) {
  for (int64_t i = begin; i < x.rows(); i += step) {
    line.Answer(x.Row<double>(i), answers.Row<double>(i));
  }
}

Matrix AnswersByTenths(const Matrix& x, const Matrix& y, double ridge) {
  Matrix answers(x.rows(), y.cols(), DType::kF64);
  for (int64_t tenth = 0; tenth < kTenths; ++tenth) {
    std::vector<int64_t> rest;
    for (int64_t i = 0; i < x.rows(); ++i) {
      if (i % kTenths != tenth) {
        rest.push_back(i);
      }
    }
    Answer(FitTo(ChosenRows(x.view(), rest), ChosenRows(y.view(), rest), ridge), x, tenth, kTenths, answers);
  }
  return answers;
}

}  // namespace

bool HasLineBeside(const TrainSettings& settings, const TrainData& data, const Model& model) {
  const bool kernels = MethodFrom(settings) == Method::kKernelMachine;
  const int64_t left_out = kernels ? data.train.size() : data.validation.size();
  return settings.line == kPossibleText && LineIsPossible(settings, data, model) && !data.after_line &&
         left_out >= kLeastLeftOut && (!kernels || left_out <= kMostRowsOfKernels);
}

void AnswerWithLine(const TrainData& data, Matrix answers, Model& model) {
  const Matrix x = InDoubles(data.train.features.view());
  const Matrix y = InDoubles(data.train.targets.view());
  const double ridge = RidgeFor(data.train);
  const LineFit line = FitTo(x, y, ridge);
  const bool of_validation = data.validation.size() == answers.rows();
  const Dataset& asked = of_validation ? data.validation : data.train;
  Matrix beside(answers.rows(), answers.cols(), DType::kF64);
  if (of_validation) {
    Answer(line, InDoubles(asked.features.view()), 0, 1, beside);
  } else {
    beside = AnswersByTenths(x, y, ridge);
  }
  const double share = AddBeside(NetworkOfLine(line, model.network.dtype()), beside, asked.targets,
                                 kShareOfLineBeside, answers, model);
  if (share > 0) {
    model.training[kBesideKey] = {{"share", share}};
  }
}

std::string LineBesideText(const nlohmann::json& training) {
  return training.contains(kBesideKey)
             ? fmt::format("a line beside, which counts {:.0f} %", 100 * training[kBesideKey]["share"].get<double>())
             : "";
}

}  // namespace lamina
