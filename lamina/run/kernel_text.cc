// Lines, and the choices of kernel machines and trees, as sentences.
#include "lamina/run/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lamina/base/text.h"
#include "lamina/run/line_beside.h"
#include "lamina/run/line_first.h"
#include "lamina/settings/method.h"

namespace lamina {
namespace {

std::string ChoiceText(const nlohmann::json& method, int64_t rows) {
  const int64_t search_rows = method["search_rows"].get<int64_t>();
  return fmt::format("chosen among {}{}: {} distances, power {:g}, round {} of column weights",
                     Counted(method["tried"].get<int64_t>(), "machine{s}"),
                     search_rows < rows ? fmt::format(" on {} of the rows", WithThousands(search_rows)) : "",
                     method["distance"].get<std::string>(), method["power"].get<double>(), method["round"].get<int>());
}

// Who answers whom, of rows left out.
std::string AskedText(const nlohmann::json& method) {
  if (const int64_t groups = method["groups"].get<int64_t>(); groups > 0) {
    return fmt::format("each of {} groups answered by all others", WithThousands(groups));
  }
  if (const int64_t asked = method["asked_rows"].get<int64_t>(); asked > 0) {
    return fmt::format("the latest {}, each answered by all earlier ones", Counted(asked, "row{s}"));
  }
  const int64_t equal = method["equal_rows"].get<int64_t>();
  return "each row answered by all others" +
         (equal > 0 ? fmt::format(", {} equal rows together", WithThousands(equal)) : "");
}

std::string ErrorText(const nlohmann::json& method) {
  return method.contains("left_out_accuracy")
             ? fmt::format("accuracy {:.2f} %", 100 * method["left_out_accuracy"].get<double>())
             : fmt::format("mean squared error {:.4g} of a scaled target", method["left_out_error"].get<double>());
}

std::string SolverText(const nlohmann::json& method) {
  if (method.contains("solver")) {
    return "systems solved by " + method["solver"].get<std::string>();
  }
  return method.contains("why_processor")
             ? "systems solved by the processor: " + method["why_processor"].get<std::string>()
             : "";
}

std::string LeavesText(const nlohmann::json& method) {
  return method.contains("leaves")
             ? fmt::format("{} leaves, each with choices of its own; those of the first are told, and errors of all",
                           WithThousands(method["leaves"].get<int64_t>()))
             : "";
}

std::string PrunedText(const nlohmann::json& method) {
  if (!method.contains("growth")) {
    return "";
  }
  if (method["unpruned"].get<int64_t>() == 0) {
    return "pruned: no neuron; fewer cost more than --prune allows, or there are too few rows to tell";
  }
  return fmt::format(
      "pruned: {} of {} neurons are left; the mean squared error of rows that had no part in it changes by {:+.2g} %",
      WithThousands(method["centres"].get<int64_t>()), WithThousands(method["unpruned"].get<int64_t>()),
      100 * method["growth"].get<double>());
}

std::string JitterText(const nlohmann::json& method) {
  return method.contains("jitter") ? fmt::format("the kernel was not positive definite: {:g} was added to the ridge",
                                                 method["jitter"].get<double>())
                                   : "";
}

// Those of --method boost, or beside what else answers.
std::string TreesText(const nlohmann::json& trees) {
  if (trees["trees"].get<int64_t>() == 0 && trees.value("share", 0.0) > 0) {
    return fmt::format("no boosted tree helps here; their constant counts {:.0f} %",
                       100 * trees["share"].get<double>());
  }
  std::string grown = fmt::format("{} of {} leaves", Counted(trees["trees"].get<int64_t>(), "boosted tree{s}"),
                                  trees["leaves"].get<int>());
  if (trees.value("sums", 0) > 0) {
    grown += " (with sums of columns)";
  }
  if (!trees.contains("share")) {
    return grown;
  }
  const double share = trees["share"].get<double>();
  return share > 0 ? fmt::format("{} beside, which count {:.0f} %", grown, 100 * share)
                   : "boosted trees do not help here: the model has none";
}

std::vector<std::string> KernelLines(const TrainSession& session, const nlohmann::json& method) {
  if (LearnsByGradient(session.settings())) {
    return {SolverText(method)};
  }
  return {ChoiceText(method, session.rows().train),
          AskedText(method) + ": " + ErrorText(method),
          SolverText(method),
          LeavesText(method),
          PrunedText(method),
          JitterText(method)};
}

}  // namespace

std::vector<std::string> FoundLines(const TrainSession& session) {
  const nlohmann::json& training = session.model().training;
  const nlohmann::json method = training.value("method", nlohmann::json::object());
  std::vector<std::string> lines = {LineText(training)};
  if (method.contains("left_out_error")) {
    std::ranges::move(KernelLines(session, method), std::back_inserter(lines));
  }
  for (const nlohmann::json& trees : {method, training.value("trees", nlohmann::json::object())}) {
    if (trees.contains("trees")) {
      lines.push_back(TreesText(trees));
    }
  }
  lines.push_back(LineBesideText(training));
  std::erase(lines, "");
  return lines;
}

}  // namespace lamina
