// Networks found at once, in words.
#include "method_result.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "lamina/base/text.h"
#include "lamina/run/kernel_text.h"
#include "print.h"
#include "tables.h"

namespace lamina::cli {

void PrintFound(const TrainSession& session) {
  for (const std::string& line : FoundLines(session)) {
    Print("{}\n", line);
  }
}

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
  PrintFound(session);
  const EpochRecord& record = result.history.epochs.front();
  if (!std::isnan(record.validation_accuracy)) {
    Print("validation accuracy {:.2f} %\n", 100 * record.validation_accuracy);
  }
}

}  // namespace lamina::cli
