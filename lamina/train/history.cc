// History as CSV and JSON, one list of fields for both.
#include "lamina/train/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr std::string_view kMonitored = "monitored";  // absent where the loss tells the best epoch

struct Field {
  std::string_view name;
  double EpochRecord::*member;
};

constexpr std::array<Field, 9> kFields{{{"learning_rate", &EpochRecord::learning_rate},
                                        {"train_loss", &EpochRecord::train_loss},
                                        {"train_accuracy", &EpochRecord::train_accuracy},
                                        {"validation_loss", &EpochRecord::validation_loss},
                                        {"validation_accuracy", &EpochRecord::validation_accuracy},
                                        {kMonitored, &EpochRecord::monitored},
                                        {"train_seconds", &EpochRecord::train_seconds},
                                        {"validation_seconds", &EpochRecord::validation_seconds},
                                        {"samples_per_second", &EpochRecord::samples_per_second}}};

// Those that the history has.
std::vector<Field> FieldsOf(const History& history) {
  const bool monitors = std::any_of(history.epochs.begin(), history.epochs.end(),
                                    [](const EpochRecord& record) { return !std::isnan(record.monitored); });
  std::vector<Field> fields(kFields.begin(), kFields.end());
  std::erase_if(fields, [&](const Field& field) { return field.name == kMonitored && !monitors; });
  return fields;
}

}  // namespace

std::string History::ToCsv() const {
  std::string text = "epoch";
  const std::vector<Field> fields = FieldsOf(*this);
  for (const Field& field : fields) {
    text += fmt::format(",{}", field.name);
  }
  text += '\n';
  for (const EpochRecord& record : epochs) {
    text += fmt::format("{}", record.epoch);
    for (const Field& field : fields) {
      const double value = record.*(field.member);
      text += std::isnan(value) ? "," : fmt::format(",{}", value);
    }
    text += '\n';
  }
  return text;
}

json History::ToJson() const {
  json list = json::array();
  for (const EpochRecord& record : epochs) {
    json entry = {{"epoch", record.epoch}};
    for (const Field& field : FieldsOf(*this)) {
      const double value = record.*(field.member);
      entry[field.name] = std::isnan(value) ? json(nullptr) : json(value);
    }
    list.push_back(std::move(entry));
  }
  return {{"epochs", list}, {"best_epoch", best_epoch}, {"stop_reason", stop_reason}};
}

History History::FromJson(const json& node) {
  try {
    History history;
    history.best_epoch = IntegerAt(node, "best_epoch");
    history.stop_reason = node.at("stop_reason").get<std::string>();
    for (const json& entry : node.at("epochs")) {
      EpochRecord record;
      record.epoch = IntegerAt(entry, "epoch");
      for (const Field& field : kFields) {
        if (field.name == kMonitored && !entry.contains(field.name)) {
          continue;
        }
        const json& value = entry.at(field.name);
        record.*(field.member) = value.is_null() ? std::nan("") : value.get<double>();
      }
      history.epochs.push_back(record);
    }
    if (history.best_epoch < 0 || history.best_epoch > std::ssize(history.epochs)) {
      throw Error(ErrorCode::kBadModel, "the history is wrong: its best epoch is not one of its epochs",
                  {.value = fmt::format("{}", history.best_epoch)});
    }
    return history;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("the history is wrong: {}", WithoutTag(error.what())));
  }
}

}  // namespace lamina
