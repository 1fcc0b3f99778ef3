// Data of the page: what is in a file, and what a run on it would be.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/report_text.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/predictions.h"
#include "lamina/platform/process.h"
#include "lamina/run/result_json.h"
#include "lamina/settings/setting_labels.h"
#include "lamina/settings/settings_text.h"
#include "web_state.h"

namespace lamina::web {
namespace {

using nlohmann::json;

constexpr int64_t kShownRows = 30;
constexpr int64_t kShownColumns = 200;
// A table takes its file's size several times: the file, its text, its numbers, and the encoded rows.
constexpr int64_t kTimesOfFile = 5;

std::string RangeText(const Column& column, const ColumnSummary& summary) {
  if (column.kind == ColumnKind::kText) {
    return fmt::format("{} different", WithThousands(summary.categories));
  }
  if (summary.numbers.count == 0) {
    return "none";
  }
  const auto text = [&](double value) { return column.is_date ? DateText(value) : FigureText(value); };
  return fmt::format("{} to {}", text(summary.numbers.min), text(summary.numbers.max));
}

json SettingJson(const Setting<TrainSettings>& row, const TrainSettings& defaults) {
  std::vector<std::string> choices = SettingChoices(row.name);
  if (row.kind() == SettingKind::kYesNo) {
    choices = {"yes", "no"};
  }
  return {{"name", row.name},
          {"label", PlainSettingLabel(row.name)},
          {"help", row.basic != nullptr ? std::string(row.basic) : row.help},
          {"group", row.group},
          {"basic", row.basic != nullptr},
          {"choices", choices},
          {"more_choices", row.more_choices || row.kind() == SettingKind::kTextList},
          {"default", SettingText(defaults, row.name)}};
}

}  // namespace

TrainSettings SettingsFrom(const json& request, const WebState& state) {
  TrainSettings settings;
  settings.data = state.path;
  const json given = request.value("settings", json::object());  // items() looks into it
  for (const auto& [name, text] : given.items()) {
    SetSetting(settings, name,
               text.is_array() ? ListText(text.get<std::vector<std::string>>()) : text.get<std::string>());
  }
  return settings;
}

json TableJson(const Table& table) {
  json columns = json::array();
  const std::vector<ColumnSummary> summaries = SummarizeColumns(table);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    columns.push_back({{"name", column.name},
                       {"kind", column.kind == ColumnKind::kText ? "text"
                                : column.is_date                 ? "date"
                                                                 : "number"},
                       {"missing", summaries[i].missing},
                       {"range", RangeText(column, summaries[i])}});
  }
  json rows = json::array();
  const int64_t shown = std::min(kShownColumns, std::ssize(table.columns));
  for (int64_t row = 0; row < std::min(kShownRows, table.rows); ++row) {
    json cells = json::array();
    for (int64_t i = 0; i < shown; ++i) {
      cells.push_back(CellName(table.columns[static_cast<size_t>(i)], row));
    }
    rows.push_back(std::move(cells));
  }
  return {{"rows", table.rows}, {"columns", std::move(columns)}, {"first", std::move(rows)}};
}

json TellAbout(const json& /*request*/, WebState& /*state*/) {
  json settings = json::array();
  const TrainSettings defaults;
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    settings.push_back(SettingJson(row, defaults));
  }
  std::string endings;
  for (const FormatRow& format : FormatTable()) {
    endings += fmt::format("{}{}", endings.empty() ? "" : " ", format.endings);
  }
  return {{"version", Version()},
          {"settings", std::move(settings)},
          {"endings", endings},
          {"threads", UsableCores()},
          {"most_bytes", platform::InstalledMemory_bytes() / kTimesOfFile}};
}

json OpenData(const json& request, WebState& state) {
  WebState opened;
  opened.path = request.at("path").get<std::string>();
  const TrainSettings settings = SettingsFrom(request, opened);
  opened.raw = ReadRawData(settings);
  const Table& table = opened.raw.main.train;
  json answer = TableJson(table);
  std::vector<std::string> target = settings.target;
  if (target.empty() && !table.columns.empty()) {
    target.push_back(opened.raw.main.target.value_or(table.columns.back().name));
  }
  answer["target"] = target;
  if (table.sheet) {
    answer["sheet"] = table.sheet->name;
    answer["sheets"] = table.sheet->sheets;
  }
  opened.model = std::move(state.model);
  state = std::move(opened);
  return answer;
}

json PlanOfRun(const json& request, WebState& state) {
  const TrainSettings settings = SettingsFrom(request, state);
  json problems = json::array();
  for (const SettingProblem& problem : CheckSettings(settings)) {
    problems.push_back({{"setting", problem.setting}, {"error", problem.error.what()}});
  }
  if (!problems.empty()) {
    return {{"problems", problems}};
  }
  const RunPlan plan = PlanRun(settings, state.raw);
  const TargetEncoder& targets = plan.data.preprocessor.targets();
  return {{"problems", problems},
          {"method", plan.method},
          {"targets", targets.names()},
          {"classes", targets.class_names()},
          {"train_rows", plan.train_rows},
          {"validation_rows", plan.validation_rows},
          {"test_rows", plan.test_rows},
          {"left_out_rows", plan.left_out_rows},
          {"inputs", plan.data.preprocessor.inputs().count()},
          {"parameters", plan.network.parameter_count()},
          {"remark", plan.recipe_remark},
          {"decisions", DecisionsJson(plan.data.decisions)}};
}

}  // namespace lamina::web
