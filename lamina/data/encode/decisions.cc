// One row for every decision.
#include "lamina/data/encode/decisions.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr size_t kMostPlainClasses = 10;  // more whole numbers than this are likely to be quantities

template <class T>
std::unordered_map<std::string_view, const T*> ColumnsByName(const std::vector<T>& columns) {
  std::unordered_map<std::string_view, const T*> by_name;
  for (const T& column : columns) {
    by_name.emplace(column.name, &column);
  }
  return by_name;
}

template <class T>
const T* Find(const std::unordered_map<std::string_view, const T*>& columns, const std::string& name) {
  const auto found = columns.find(name);
  return found == columns.end() ? nullptr : found->second;
}

void AddFormat(const Column& column, std::vector<ColumnDecision>& decisions) {
  const ColumnFormat& format = column.format;
  const std::string text = format.Text();
  if (text.empty()) {
    return;
  }
  if (column.is_date) {
    const bool day_first = format.date_order == DateOrder::kDayFirst;
    decisions.push_back({column.name, text, fmt::format("--date-order {}", day_first ? "month-first" : "day-first")});
  } else {
    decisions.push_back(
        {column.name, "numbers, " + text, format.decimal == ',' ? "--decimal point" : "--text-columns " + column.name});
  }
}

void AddFill(const FittedColumn& input, std::vector<ColumnDecision>& decisions) {
  const std::string with =
      input.kind == ColumnKind::kText
          ? fmt::format("the most frequent, '{}'", input.categories[static_cast<size_t>(input.fill_category)])
          : fmt::format("the mean, {}", input.is_date ? DateText(input.fill) : fmt::format("{:.6g}", input.fill));
  decisions.push_back({input.name,
                       fmt::format("{} training rows miss it: filled in with {}", WithThousands(input.missing), with),
                       "--missing drop"});
}

}  // namespace

std::vector<ColumnDecision> DecisionsOn(const Table& table, const Preprocessor& fitted,
                                        const PreprocessOptions& options) {
  const TargetEncoder& targets = fitted.targets();
  const auto left_out_columns = ColumnsByName(fitted.left_out());
  const auto input_columns = ColumnsByName(fitted.inputs().columns());
  const auto target_columns = ColumnsByName(targets.columns());
  std::vector<ColumnDecision> decisions;
  for (const Column& column : table.columns) {
    if (const LeftOutColumn* left_out = Find(left_out_columns, column.name)) {
      decisions.push_back({column.name, "left out: " + left_out->reason, "--use " + column.name});
      continue;
    }
    const FittedColumn* input = Find(input_columns, column.name);
    const FittedColumn* target = Find(target_columns, column.name);
    if (input != nullptr || target != nullptr) {
      AddFormat(column, decisions);
    }
    if (input != nullptr && input->missing > 0 && fitted.policies().missing == MissingPolicy::kMean) {
      AddFill(*input, decisions);
    }
    const size_t classes = targets.class_names().size();
    if (target != nullptr && column.kind == ColumnKind::kNumber && classes > kMostPlainClasses &&
        options.task == Task::kAuto && options.class_map.empty()) {
      decisions.push_back(
          {column.name, fmt::format("{} whole numbers, taken for classes", classes), "--task regression"});
    }
  }
  return decisions;
}

}  // namespace lamina
