// Networks found at once, in words.
#include "method_result.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "lamina/base/text.h"
#include "lamina/run/kernel_training.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {
namespace {

// Who answers whom, of rows left out.
std::string AskedText(const nlohmann::json& method) {
  if (const int64_t groups = method["groups"].get<int64_t>(); groups > 0) {
    return fmt::format("each of {} groups answered by all others", WithThousands(groups));
  }
  if (const int64_t asked = method["asked_rows"].get<int64_t>(); asked > 0) {
    return "the latest " + WithThousands(asked) + Plural(asked, " row{s}, each answered by all earlier ones");
  }
  const int64_t equal = method["equal_rows"].get<int64_t>();
  return "each row answered by all others" +
         (equal > 0 ? fmt::format(", {} equal rows together", WithThousands(equal)) : "");
}

// What a kernel machine chose, and by what.
void PrintKernelChoice(const TrainSession& session, const nlohmann::json& method) {
  Print("chosen among {}{}: {} distances, power {:g}, round {} of column weights\n",
        WithThousands(method["tried"].get<int64_t>()) + Plural(method["tried"].get<int64_t>(), " machine{s}"),
        method["search_rows"].get<int64_t>() < session.rows().train
            ? fmt::format(" on {} of the rows", WithThousands(method["search_rows"].get<int64_t>()))
            : "",
        method["distance"].get<std::string>(), method["power"].get<double>(), method["round"].get<int>());
  if (method.contains("left_out_accuracy")) {
    Print("{}: accuracy {:.2f} %\n", AskedText(method), 100 * method["left_out_accuracy"].get<double>());
  } else {
    Print("{}: mean squared error {:.4g} of a scaled target\n", AskedText(method),
          method["left_out_error"].get<double>());
  }
  if (const std::string solver = SolverText(method); !solver.empty()) {
    Print("{}\n", solver);
  }
  if (method.contains("leaves")) {
    Print("{} leaves, each with choices of its own; those of the first are told, and errors of all\n",
          WithThousands(method["leaves"].get<int64_t>()));
  }
  if (method.contains("growth") && method["unpruned"].get<int64_t>() > 0) {
    Print(
        "pruned: {} of {} neurons are left; the mean squared error of rows that had no part in it changes by {:+.2g} "
        "%\n",
        WithThousands(method["centres"].get<int64_t>()), WithThousands(method["unpruned"].get<int64_t>()),
        100 * method["growth"].get<double>());
  } else if (method.contains("growth")) {
    Print("pruned: no neuron; fewer cost more than --prune allows, or there are too few rows to tell\n");
  }
  if (method.contains("jitter")) {
    Print("the kernel was not positive definite: {:g} was added to the ridge\n", method["jitter"].get<double>());
  }
}

}  // namespace

void PrintMethodResult(const TrainSession& session, const TrainResult& result) {
  const Model& model = session.model();
  std::string found;
  const nlohmann::json& method = model.training["method"];
  for (const char* number : {"radius", "c", "ridge"}) {
    if (method.contains(number)) {
      found += fmt::format(", {} {:.6g}", number, method[number].get<double>());
    }
  }
  Print("network {} ({}), {} parameters{}; trained in {}\n", model.ShapeText(), ActivationsText(model.network),
        WithThousands(model.parameter_count()), found, DurationText(result.train_seconds));
  if (method.contains("left_out_error")) {
    PrintKernelChoice(session, method);
  }
  const EpochRecord& record = result.history.epochs.front();
  if (!std::isnan(record.validation_accuracy)) {
    Print("validation accuracy {:.2f} %\n", 100 * record.validation_accuracy);
  }
}

}  // namespace lamina::cli
