// Fits a table: finds the roles of its columns, then fits inputs and targets (column_fit). Encoders share the rest.
#include "lamina/data/encode/preprocessor.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>

#include "lamina/base/error.h"
#include "lamina/data/encode/code_columns.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/encoder_json.h"
#include "lamina/data/encode/sum_of_columns.h"
#include "lamina/data/encode/telling_columns.h"
#include "lamina/data/encode/telling_text.h"
#include "lamina/data/encode/text_answers.h"

namespace lamina {
namespace {

constexpr Named<MissingPolicy> kMissingPolicies[] = {{"error", MissingPolicy::kError},
                                                     {"drop", MissingPolicy::kDropRow},
                                                     {"mean", MissingPolicy::kMean},
                                                     {"median", MissingPolicy::kMedian}};
constexpr Named<UnseenPolicy> kUnseenPolicies[] = {{"error", UnseenPolicy::kError}, {"zero", UnseenPolicy::kZero}};

constexpr int64_t kWide = 2;  // columns of numbers a training row

struct Roles {
  std::vector<int64_t> inputs;
  std::vector<int64_t> targets;
};

// Names decide which column is which when rows are answered: of two that share one, the second would be lost.
void RequireOwnNames(const Table& table) {
  std::unordered_set<std::string_view> names;
  for (const Column& column : table.columns) {
    if (!names.insert(column.name).second) {
      throw Error(ErrorCode::kBadData, "two columns have the same name",
                  {.file = table.source, .column = column.name, .remedy = "Give each column a name of its own."});
    }
  }
}

// The last pixel is no target that anybody means.
void RequireLabels(const Table& table) {
  const int64_t pixels = table.image_height * table.image_width;
  if (table.is_image && std::ssize(table.columns) == pixels) {
    throw Error(ErrorCode::kInvalidArgument, "the file holds images and no labels",
                {.file = table.source,
                 .remedy = "Give the folder that holds the file of labels, too, or name a pixel with --target."});
  }
}

Roles FindRoles(const Table& table, const PreprocessOptions& options) {
  std::vector<char> role(table.columns.size(), 'i');
  for (const std::string& name : options.drop_columns) {
    role[static_cast<size_t>(table.FindColumn(name))] = 'd';
  }
  Roles roles;
  for (const std::string& name : options.targets) {
    const int64_t column = table.FindColumn(name);
    char& current = role[static_cast<size_t>(column)];
    if (current != 'i') {
      throw Error(ErrorCode::kInvalidArgument,
                  current == 'd' ? "a target column is also dropped" : "a target column is named twice",
                  {.column = table.columns[static_cast<size_t>(column)].name});
    }
    current = 't';
    roles.targets.push_back(column);
  }
  if (roles.targets.empty()) {
    RequireLabels(table);
    const auto last = std::find(role.rbegin(), role.rend(), 'i');
    if (last != role.rend()) {
      *last = 't';
      roles.targets.push_back(role.rend() - last - 1);
    }
  }
  for (size_t j = 0; j < role.size(); ++j) {
    if (role[j] == 'i') {
      roles.inputs.push_back(static_cast<int64_t>(j));
    }
  }
  if (roles.inputs.empty() || roles.targets.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("no {} column is left", roles.targets.empty() ? "target" : "input"),
                {.file = table.source,
                 .remedy = fmt::format("The table has {} column(s); targets and dropped columns take them all.",
                                       table.columns.size())});
  }
  return roles;
}

// Without the inputs that say nothing, which are returned.
std::vector<LeftOutColumn> LeaveOut(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options,
                                    Roles& roles) {
  std::vector<int64_t> judged = roles.inputs;
  for (const std::string& name : options.use_columns) {
    std::erase(judged, table.FindColumn(name));
  }
  std::vector<LeftOutColumn> left_out = UselessColumns(table, rows, judged, ReadsWords(options.text));
  if (left_out.size() == roles.inputs.size()) {  // better than nothing: those that have values
    std::erase_if(left_out, [&](const LeftOutColumn& column) {
      const Column& values = table.columns[static_cast<size_t>(table.FindColumn(column.name))];
      return std::any_of(rows.begin(), rows.end(), [&](int64_t row) { return !values.IsMissing(row); });
    });
    if (left_out.size() == roles.inputs.size()) {
      return {};
    }
  }
  std::erase_if(roles.inputs, [&](int64_t position) {
    return std::any_of(left_out.begin(), left_out.end(), [&](const LeftOutColumn& column) {
      return column.name == table.columns[static_cast<size_t>(position)].name;
    });
  });
  return left_out;
}

// Takes the numbers that tell nothing of the one target out of the inputs of a wide table: they join `left_out`.
void Select(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options,
            const TargetEncoder& targets, Roles& roles, std::vector<LeftOutColumn>& left_out) {
  std::vector<int64_t> judged;
  std::copy_if(roles.inputs.begin(), roles.inputs.end(), std::back_inserter(judged), [&](int64_t position) {
    return table.columns[static_cast<size_t>(position)].kind == ColumnKind::kNumber;
  });
  const bool wide = std::ssize(judged) > kWide * std::ssize(rows);
  if (options.select == ColumnSelection::kAll || (options.select == ColumnSelection::kAuto && !wide) ||
      table.is_image || roles.targets.size() != 1) {
    return;
  }
  for (const std::string& name : options.use_columns) {
    std::erase(judged, table.FindColumn(name));
  }
  std::vector<int64_t> nothing =
      ColumnsThatTellNothing(table, rows, judged, roles.targets[0], targets.task() == Task::kClassification);
  std::sort(nothing.begin(), nothing.end());
  for (const int64_t position : nothing) {
    left_out.push_back({table.columns[static_cast<size_t>(position)].name, kTellsNothing});
  }
  std::erase_if(roles.inputs,
                [&](int64_t position) { return std::binary_search(nothing.begin(), nothing.end(), position); });
}

// Free text was left out, or is an input since there is no other. Where its words tell the target it becomes one, and
// `options` says so.
void KeepTellingTexts(const Table& table, std::span<const int64_t> rows, const TargetEncoder& targets, Roles& roles,
                      std::vector<LeftOutColumn>& left_out, PreprocessOptions& options) {
  if (options.text != TextEncoding::kAuto || !Fills(options.missing) || table.is_image || roles.targets.size() != 1) {
    return;
  }
  std::vector<int64_t> used;
  for (const std::string& name : options.use_columns) {
    used.push_back(table.FindColumn(name));
  }
  const auto is_free = [&](int64_t position) {
    return std::ranges::find(used, position) == used.end() &&
           IsFreeText(table.columns[static_cast<size_t>(position)], rows);
  };
  std::vector<int64_t> texts;
  std::ranges::copy_if(roles.inputs, std::back_inserter(texts), is_free);
  for (const LeftOutColumn& column : left_out) {
    if (const int64_t position = table.FindColumn(column.name); is_free(position)) {
      texts.push_back(position);
    }
  }
  std::vector<int64_t> others;
  std::ranges::copy_if(roles.inputs, std::back_inserter(others),
                       [&](int64_t position) { return std::ranges::find(texts, position) == texts.end(); });
  if (texts.empty()) {
    return;
  }
  const Matrix answers = TextAnswers(table, rows, roles.targets, targets);
  const Matrix taught = NearAnswers(answers, targets);
  const std::vector<int64_t> telling = TextsThatTell(table, rows, {texts, others, answers, taught});
  if (telling.empty()) {
    return;
  }
  options.text = TextEncoding::kByTexts;
  for (const int64_t position : roles.inputs) {
    if (is_free(position)) {
      left_out.push_back({table.columns[static_cast<size_t>(position)].name, "its words tell nothing of the target"});
    }
  }
  roles.inputs = std::move(others);
  roles.inputs.insert(roles.inputs.end(), telling.begin(), telling.end());
  std::ranges::sort(roles.inputs);
  std::erase_if(left_out, [&](const LeftOutColumn& column) {
    return std::ranges::find(telling, table.FindColumn(column.name)) != telling.end();
  });
}

// A target of numbers may be a sum of columns whose limits would cut it. Numbers may name something.
PreprocessOptions AsRowsTell(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options,
                             const TargetEncoder& targets, const Roles& roles) {
  PreprocessOptions with = options;
  if (table.is_image || roles.targets.size() != 1) {
    return with;
  }
  const int64_t target = roles.targets[0];
  const bool classes = targets.task() == Task::kClassification;
  if (options.limits_may_go && options.scaling == Scaling::kRobust && !classes &&
      LimitsCutASum(table, rows, roles.inputs, target)) {
    with.scaling = Scaling::kStandardize;
  }
  if (options.find_codes) {
    for (const int64_t position : ColumnsOfCodes(table, rows, roles.inputs, target, classes)) {
      with.codes.push_back(table.columns[static_cast<size_t>(position)].name);
    }
  }
  return with;
}

std::vector<const Column*> Pick(const Table& table, std::span<const int64_t> columns) {
  std::vector<const Column*> picked;
  for (const int64_t column : columns) {
    picked.push_back(&table.columns[static_cast<size_t>(column)]);
  }
  return picked;
}

// Those of `rows` that are fitted on: of gaps, only what the policy makes up or leaves out is let through.
std::vector<int64_t> FittedRows(const Table& table, std::span<const int64_t> rows, const Roles& roles,
                                const PreprocessOptions& options) {
  const std::vector<const Column*> targets = Pick(table, roles.targets);
  std::vector<const Column*> used = Pick(table, roles.inputs);
  used.insert(used.end(), targets.begin(), targets.end());
  const bool drop = options.missing == MissingPolicy::kDropRow;
  const bool mean = Fills(options.missing);  // targets are never made up
  std::vector<const Column*> needed;
  if (drop) {
    needed = used;
  } else if (mean) {
    needed = targets;
  }
  std::vector<int64_t> usable = CompleteRows(needed, rows);
  if (usable.empty()) {
    throw Error(ErrorCode::kBadData,
                fmt::format("no training rows{}", drop   ? " without missing values"
                                                  : mean ? " with a value of the target"
                                                         : ""),
                {.file = table.source,
                 .column = mean && !targets.empty() ? targets.front()->name : "",
                 .remedy = drop   ? "Fill them in with --missing mean."
                           : mean ? "Name another one with --target."
                                  : ""});
  }
  if (const auto cell = mean ? std::nullopt : FindMissing(used, usable)) {
    ThrowCell(table, usable[static_cast<size_t>(cell->row)], *used[static_cast<size_t>(cell->column)], "missing value",
              "Fill such cells in with --missing mean, or leave the rows out with --missing drop.");
  }
  return usable;
}

}  // namespace

Preprocessor Preprocessor::Fit(const Table& table, std::span<const int64_t> rows, const PreprocessOptions& options) {
  RequireOwnNames(table);
  Roles roles = FindRoles(table, options);
  Preprocessor fitted;
  if (options.leave_out_useless) {
    fitted.left_out_ = LeaveOut(table, rows, options, roles);
  }
  const std::vector<int64_t> usable = FittedRows(table, rows, roles, options);
  fitted.targets_ = TargetEncoder::Fit(table, usable, roles.targets, options);
  Select(table, usable, options, fitted.targets_, roles, fitted.left_out_);
  PreprocessOptions with = AsRowsTell(table, usable, options, fitted.targets_, roles);
  KeepTellingTexts(table, usable, fitted.targets_, roles, fitted.left_out_, with);
  const Matrix taught = MayScore(with.text)
                            ? NearAnswers(TextAnswers(table, usable, roles.targets, fitted.targets_), fitted.targets_)
                            : Matrix();
  fitted.inputs_ = InputEncoder::Fit(table, usable, roles.inputs, with, taught);
  fitted.derive_ = options.derive;
  fitted.policies_ = {options.missing, options.unseen};
  fitted.missing_values_ = options.missing_values;
  fitted.keeps_medians_ = options.missing == MissingPolicy::kMedian;
  fitted.column_count_ = std::ssize(table.columns);
  return fitted;
}

void Preprocessor::set_missing(MissingPolicy policy) {
  const MissingPolicy kept = keeps_medians_ ? MissingPolicy::kMedian : MissingPolicy::kMean;
  if (Fills(policy) && policy != kept) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the model keeps the {}s of its columns", NameOf(kept, kMissingPolicies)),
                {.value = std::string(NameOf(policy, kMissingPolicies)),
                 .remedy = fmt::format("Use --missing {}.", NameOf(kept, kMissingPolicies))});
  }
  policies_.missing = policy;
}

void Preprocessor::Prepare(Table& table) const {
  std::vector<std::string> optional = targets_.names();
  optional.push_back(targets_.baseline().name);
  DeriveOptions absent = derive_;
  const auto names = table.ColumnNames();
  std::erase_if(absent.columns, [&](const std::string& text) {
    return std::find(names.begin(), names.end(), DerivedName(text)) != names.end();
  });
  DeriveColumns(table, absent, optional);
}

std::vector<std::string> Preprocessor::TextColumns() const {
  std::vector<std::string> names;
  for (const std::vector<FittedColumn>* columns : {&inputs_.columns(), &targets_.columns()}) {
    for (const FittedColumn& column : *columns) {
      if (column.kind == ColumnKind::kText) {
        names.push_back(column.name);
      }
    }
  }
  return names;
}

void Preprocessor::AddTo(ReadOptions& options) const {
  for (const std::vector<FittedColumn>* columns : {&inputs_.columns(), &targets_.columns()}) {
    for (const FittedColumn& column : *columns) {
      options.known_columns.push_back({column.name, column.kind, column.is_date, column.format, column.IsFlag()});
    }
  }
  options.answer_columns = targets_.names();
  options.missing_values.insert(options.missing_values.end(), missing_values_.begin(), missing_values_.end());
}

nlohmann::json Preprocessor::ToJson() const {
  nlohmann::json object{{"missing", NameOf(policies_.missing, kMissingPolicies)},
                        {"unseen", NameOf(policies_.unseen, kUnseenPolicies)},
                        {"columns", column_count_}};
  if (!missing_values_.empty()) {
    object["missing_values"] = missing_values_;
  }
  if (!derive_.columns.empty()) {
    object["derive"] = {{"columns", derive_.columns}, {"series_by", derive_.series_by}, {"order_by", derive_.order_by}};
  }
  for (const LeftOutColumn& column : left_out_) {
    object["left_out"].push_back({{"name", column.name}, {"reason", column.reason}});
  }
  inputs_.AddTo(object);
  targets_.AddTo(object);
  return object;
}

Preprocessor Preprocessor::FromJson(const nlohmann::json& object) {
  using namespace encoder_json;
  Preprocessor fitted;
  fitted.targets_ = TargetEncoder::FromJson(object);
  fitted.policies_ = {GetKind(object, "missing", kMissingPolicies), GetKind(object, "unseen", kUnseenPolicies)};
  fitted.keeps_medians_ = fitted.policies_.missing == MissingPolicy::kMedian;
  fitted.inputs_ = InputEncoder::FromJson(object, Fills(fitted.policies_.missing));
  fitted.column_count_ = Get<int64_t>(object, "columns");
  if (object.contains("missing_values")) {  // older files have none
    fitted.missing_values_ = Get<std::vector<std::string>>(object, "missing_values");
  }
  if (object.contains("derive")) {  // older files have none
    const json& derive = object["derive"];
    fitted.derive_ = {Get<std::vector<std::string>>(derive, "columns"), Get<std::string>(derive, "series_by"),
                      Get<std::string>(derive, "order_by")};
    AsField([&] { ValidateDerive(fitted.derive_); });
  }
  if (object.contains("left_out")) {  // older files have none
    for (const json& column : object["left_out"]) {
      fitted.left_out_.push_back({Get<std::string>(column, "name"), Get<std::string>(column, "reason")});
    }
  }
  const auto require_column = [&](const FittedColumn& column) {
    if (column.position >= fitted.column_count_) {
      ThrowField("position", "is not below 'columns'", std::to_string(column.position));
    }
  };
  std::for_each(fitted.inputs_.columns().begin(), fitted.inputs_.columns().end(), require_column);
  std::for_each(fitted.targets_.columns().begin(), fitted.targets_.columns().end(), require_column);
  if (fitted.targets_.baseline_is_column()) {
    require_column(fitted.targets_.baseline());
  }
  return fitted;
}

}  // namespace lamina
