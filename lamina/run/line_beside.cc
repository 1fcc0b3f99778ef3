// Ridges are compared by halves. Rows of a kernel machine are answered by lines through nine tenths of them.
#include "lamina/run/line_beside.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/data/encode/line_fit.h"
#include "lamina/model/evaluate.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/run/line_first.h"
#include "lamina/run/share_beside.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/train/trainer.h"

namespace lamina {
namespace {

constexpr const char* kBesideKey = "line_beside";
constexpr int64_t kLeastLeftOut = 100;
constexpr double kRidges[] = {1e-6, 1e-3, 0.01, 0.1, 1};  // times the rows; classes leave out the first
constexpr int64_t kRowsCompared = 1000;
constexpr int64_t kTenths = 10;
constexpr int64_t kStepsOfClasses = 50;
constexpr int64_t kMostOfClasses = 10'000'000;  // rows times inputs times classes
constexpr ShareRule kShareOfLineBeside = {0, 0.15, 0.95};

bool AsksForClasses(const TrainData& data, const Model& model) {
  const LayerSpec& last = model.network.layers().back();
  return data.preprocessor.targets().task() == Task::kClassification && model.loss == Loss::kCrossEntropy &&
         last.synapse == Synapse::kDot && last.activation.is_softmax() &&
         data.train.size() * data.train.inputs() * last.outputs <= kMostOfClasses;
}

// The rows begin, begin + step, ..., or all but these.
Dataset Every(const Dataset& rows, int64_t begin, int64_t step, bool others = false) {
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < rows.size(); ++i) {
    if ((i % step == begin) != others) {
      chosen.push_back(i);
    }
  }
  return ChosenRows(rows, chosen);
}

// Lines as a model's targets want them.
class Lines {
 public:
  explicit Lines(const Model& like) : like_(like), host_(MakeBackend("cpu", {.threads = 1})) {}

  // `ridge`: a share of the rows.
  Model Fit(const Dataset& rows, double ridge) const {
    Model line;
    line.loss = like_.loss;
    if (like_.loss == Loss::kMse) {
      const LineFit fit(InDoubles(rows.features.view()), InDoubles(rows.targets.view()), 0, 1,
                        ridge * static_cast<double>(rows.size()));
      line.network = NetworkOfLine(fit, like_.network.dtype());
      return line;
    }
    line.network = Network({{rows.inputs(), like_.network.outputs(), Synapse::kDot, Activation("softmax")}},
                           like_.network.dtype());
    TrainOptions options;
    options.lbfgs = true;
    options.epochs = kStepsOfClasses;
    options.batch = rows.size();
    options.shuffle = false;
    options.rule.weight_decay = ridge;
    Trainer(line.network, *host_, options).Run(rows, nullptr, {});
    return line;
  }

  Matrix Answers(const Model& line, const Dataset& rows) const { return NetworkOutputs(line, *host_, rows.features); }

  double BestRidge(const Dataset& train) const {
    const Dataset rows = EvenRows(train, kRowsCompared);
    const Dataset halves[] = {Every(rows, 0, 2), Every(rows, 1, 2)};
    const std::span ridges = std::span(kRidges).subspan(like_.loss == Loss::kMse ? 0 : 1);
    return *std::ranges::min_element(ridges, {}, [&](double ridge) {
      double loss = 0;
      for (int half = 0; half < 2; ++half) {
        const Model line = Fit(halves[half], ridge);
        loss += LossOfOutputs(line, Answers(line, halves[1 - half]), halves[1 - half].targets);
      }
      return loss;
    });
  }

  // Lines that have not seen a row answer it; in f64.
  Matrix AnswersByTenths(const Dataset& rows, double ridge) const {
    Matrix answers(rows.size(), rows.targets.cols(), DType::kF64);
    for (int64_t tenth = 0; tenth < kTenths; ++tenth) {
      const Model line = Fit(Every(rows, tenth, kTenths, /*others=*/true), ridge);
      const Matrix some = InDoubles(Answers(line, Every(rows, tenth, kTenths)).view());
      for (int64_t i = 0; i < some.rows(); ++i) {
        std::copy_n(some.Row<double>(i), some.cols(), answers.Row<double>(tenth + i * kTenths));
      }
    }
    return answers;
  }

 private:
  const Model& like_;
  std::unique_ptr<Backend> host_;
};

}  // namespace

bool HasLineBeside(const TrainSettings& settings, const TrainData& data, const Model& model) {
  const bool kernels = MethodFrom(settings) == Method::kKernelMachine;
  const int64_t left_out = kernels ? data.train.size() : data.validation.size();
  return settings.line == kPossibleText && !settings.bag && LineIsPossible(settings, data) && !data.after_line &&
         (AsksForSquares(data, model) || AsksForClasses(data, model)) && left_out >= kLeastLeftOut &&
         (!kernels || left_out <= kMostRowsOfKernels);
}

void AnswerWithLine(const TrainData& data, Matrix answers, Model& model) {
  const Lines lines(model);
  const bool of_validation = data.validation.size() == answers.rows();
  const Dataset& asked = of_validation ? data.validation : data.train;
  try {
    const double ridge = lines.BestRidge(data.train);
    Model line = lines.Fit(data.train, ridge);
    const Matrix beside =
        of_validation ? InDoubles(lines.Answers(line, asked).view()) : lines.AnswersByTenths(asked, ridge);
    const double share = AddBeside(std::move(line.network), beside, asked.targets, kShareOfLineBeside, answers, model);
    if (share > 0) {
      model.training[kBesideKey] = {{"share", share}};
    }
  } catch (const Error& error) {  // no line is better than none that answers
    if (error.code() != ErrorCode::kDiverged) {
      throw;
    }
  }
}

std::string LineBesideText(const nlohmann::json& training) {
  return training.contains(kBesideKey)
             ? fmt::format("a line beside, which counts {:.0f} %", 100 * training[kBesideKey]["share"].get<double>())
             : "";
}

}  // namespace lamina
