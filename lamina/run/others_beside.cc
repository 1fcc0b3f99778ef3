// One after the other, and each beside those before.
#include "lamina/run/others_beside.h"

#include <array>
#include <utility>
#include <vector>

#include "lamina/model/evaluate.h"
#include "lamina/model/outputs.h"
#include "lamina/run/line_beside.h"
#include "lamina/settings/method.h"

namespace lamina {

bool TrainOthersBeside(const TrainSettings& settings, const TrainData& data, const Backend& backend,
                       const std::function<bool()>& stop_requested, OthersBeside& trained) {
  if (!TrainKernelsBeside(settings, data, backend, stop_requested, trained.kernels)) {
    return false;
  }
  if (HasTreesBeside(settings, data)) {
    trained.trees = TrainTrees(settings, data.train, data.validation, backend, stop_requested,
                               /*learn_both=*/true);
    return trained.trees.has_value();
  }
  return true;
}

void AnswerWithOthers(OthersBeside others, const TrainSettings& settings, const TrainData& data, const Backend& backend,
                      Model& model) {
  const bool line = LearnsByGradient(settings) && HasLineBeside(settings, data, model);
  if (!others.kernels && !others.trees && !line) {
    return;
  }
  const Dataset& rows = data.validation;
  Matrix answers = rows.size() > 0 ? NetworkOutputs(model, backend, rows) : Matrix();
  model.others.clear();
  model.shares.clear();
  if (others.kernels) {
    constexpr int64_t kLeastRows = 100;
    KernelNetwork& kernels = others.kernels->fitted;
    double share = kHalfShare;
    if (kernels.machine.apart.rows() > 0) {
      const Matrix both[] = {std::move(answers), AnswersToLeftOut(kernels, kernels.machine.apart, rows.targets)};
      share = rows.size() < kLeastRows ? kHalfShare : ShareOfKernels(both, rows.targets, model);
      answers = SumOfShares(both, std::array{1 - share, share});
    }
    model.others.push_back(std::move(kernels.network));
    model.shares = {1 - share, share};
    model.training["method"] = std::move(others.kernels->found);
    model.training["method"]["share"] = share;
  }
  if (others.trees) {
    AnswerWithTrees(std::move(*others.trees), rows.targets, answers, model);
  }
  if (line) {
    AnswerWithLine(data, std::move(answers), model);
  }
}

}  // namespace lamina
