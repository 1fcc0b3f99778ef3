// Settings, data and plan, kept in step. A change is checked at once; files are read and the run is planned in the
// background, and late results of old settings are dropped. Reading and planning are the library's; pages show what
// stands here.
#include "run_document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "labels.h"
#include "lamina/settings/settings_text.h"

namespace lamina::gui {
namespace {

constexpr int kTypingPause_ms = 120;
constexpr int kLoadPause_ms = 600;

constexpr size_t kMostSteps = 200;  // that can be undone

// What is read, and how; nothing while the settings do not say it.
std::optional<DataSources> ReadingOf(const TrainSettings& settings) {
  std::optional<DataSources> sources;
  Attempt([&] { sources = SourcesFrom(settings); });
  return sources;
}

bool Same(const TrainSettings& a, const TrainSettings& b) { return ToJson(a) == ToJson(b); }

bool DecidesReading(const Setting<TrainSettings>& row) {
  return row.reads_file || row.name == "derive" || row.name == "series-by" || row.name == "order-by";
}

// Beside its own field a message need not name it.
QString WithoutOwnName(QString text, const std::string& name) {
  const QString label = PlainLabelOf(name);
  if (text.startsWith(label + QLatin1Char(' ')) || text.startsWith(label + QLatin1Char(':'))) {
    text = text.mid(label.size() + 1).trimmed();
  }
  if (!text.isEmpty()) {
    text[0] = text[0].toUpper();
  }
  return text;
}

}  // namespace

void ForgetColumns(TrainSettings& settings) {
  ResetSettings(settings, [](const auto& row) { return row.of_columns; });
}

TrainSettings ForOtherData(TrainSettings settings) {
  ResetSettings(settings, [](const auto& row) { return row.group != kMachineGroup || row.IsFile(); });
  return settings;
}

RunDocument::RunDocument(Background& background, QObject* parent) : QObject(parent), background_(background) {
  plan_timer_.setSingleShot(true);
  plan_timer_.setInterval(kTypingPause_ms);
  connect(&plan_timer_, &QTimer::timeout, this, &RunDocument::Plan);
  load_timer_.setSingleShot(true);
  load_timer_.setInterval(kLoadPause_ms);
  connect(&load_timer_, &QTimer::timeout, this, [this] { Load(path_); });
  Check();
}

void RunDocument::SetText(const std::string& name, const QString& text) {
  const TrainSettings before = settings_;
  try {
    SetSetting(settings_, name, text.toStdString());
    typed_.erase(name);
  } catch (const Error& error) {
    typed_[name] = WithoutOwnName(gui::ProblemOf(error).Text(), name);
  }
  Record(before, name);
  Changed();
}

void RunDocument::Edit(const std::function<void(TrainSettings&)>& change, const std::string& name) {
  const TrainSettings before = settings_;
  change(settings_);
  Record(before, name);
  std::erase_if(typed_, [&](const auto& typed) {
    return SettingText(before, typed.first) != SettingText(settings_, typed.first);
  });
  Changed();
}

void RunDocument::Replace(const std::function<void(TrainSettings&)>& change) {
  typed_.clear();
  Edit(change);
}

void RunDocument::Begin(const TrainSettings& settings) {
  settings_ = settings;
  undo_.clear();
  redo_.clear();
  Changed();
}

void RunDocument::Reset(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    typed_.erase(name);
  }
  Edit([&](TrainSettings& settings) {
    ResetSettings(settings,
                  [&](const auto& row) { return std::find(names.begin(), names.end(), row.name) != names.end(); });
  });
}

void RunDocument::ResetAll() {
  Replace([](TrainSettings& settings) { ResetSettings(settings, [](const auto& row) { return !row.IsFile(); }); });
}

void RunDocument::Record(const TrainSettings& before, const std::string& name) {
  if (Same(before, settings_)) {
    return;
  }
  if (name.empty() || name != last_edit_ || undo_.empty()) {
    undo_.push_back(before);
    if (undo_.size() > kMostSteps) {
      undo_.erase(undo_.begin());
    }
  }
  last_edit_ = name;
  redo_.clear();
}

void RunDocument::Step(std::vector<TrainSettings>& from, std::vector<TrainSettings>& to) {
  if (from.empty()) {
    return;
  }
  to.push_back(settings_);
  settings_ = from.back();
  from.pop_back();
  typed_.clear();
  last_edit_.clear();
  Changed();
}

void RunDocument::ShowAll(bool all) {
  if (all != shows_all_) {
    shows_all_ = all;
    Q_EMIT LevelChanged();
  }
}

QString RunDocument::ProblemOf(const std::string& name) const {
  const auto found = problems_.find(name);
  return found == problems_.end() ? QString() : found->second;
}

void RunDocument::Changed() {
  Check();
  Q_EMIT SettingsChanged();
  ++generation_;
  plan_ = nullptr;
  plan_problem_.reset();
  planning_ = data_ != nullptr && problems_.empty();
  if (planning_) {
    plan_timer_.start();
  }
  if (!path_.isEmpty() && problems_.empty() && ReadingOf(settings_) != reading_) {
    load_timer_.start();
  }
  Q_EMIT PlanChanged();
}

void RunDocument::Check() {
  problems_.clear();
  TrainSettings settings = settings_;
  if (settings.data.empty()) {
    settings.data = "-";  // that there is none yet is said in StartBlocker()
  }
  for (const SettingProblem& problem : CheckSettings(settings)) {
    problems_[problem.setting] = WithoutOwnName(gui::ProblemOf(problem.error).Text(), problem.setting);
  }
  for (const auto& [name, text] : typed_) {
    problems_[name] = text;
  }
}

void RunDocument::Plan() {
  if (!planning_) {
    return;
  }
  background_.Run([this, generation = generation_, settings = settings_, data = data_,
                   counts = counts_]() -> Background::Then {
    std::shared_ptr<const RunPreview> plan;
    const auto problem = Attempt([&] { plan = std::make_shared<RunPreview>(PreviewRun(settings, data->raw, counts)); });
    return [this, generation, plan, problem] {
      if (generation == generation_) {
        plan_ = plan;
        counts_ = plan != nullptr ? plan->rows : counts_;
        plan_problem_ = problem;
        planning_ = false;
        Q_EMIT PlanChanged();
      }
    };
  });
}

void RunDocument::Load(const QString& path, std::optional<TrainSettings> given) {
  loading_ = true;
  reread_problem_.reset();
  Q_EMIT PlanChanged();
  load_timer_.stop();
  const bool project = given.has_value();
  TrainSettings settings = given ? *given : settings_;
  if (!given && path != path_) {
    settings = data_ == nullptr ? settings_ : ForOtherData(settings_);
    ForgetColumns(settings);
  }
  settings.data = path.toStdString();
  path_ = path;
  reading_ = ReadingOf(settings);
  background_.Run([this, settings, path, project]() -> Background::Then {
    auto data = std::make_shared<LoadedData>();
    const auto problem = Attempt([&] {
      data->path = path;
      data->settings = settings;
      data->raw = ReadRawData(settings);
      data->summaries = SummarizeColumns(data->raw.main.train);
    });
    return [this, data, project, problem] { Loaded(data, project, problem); };
  });
}

void RunDocument::Loaded(std::shared_ptr<const LoadedData> data, bool project, const std::optional<Problem>& problem) {
  loading_ = false;
  if (problem) {
    if (data_ != nullptr && data_->path == path_) {
      reread_problem_ = problem;
    }
    Q_EMIT PlanChanged();
    Q_EMIT LoadFailed(*problem);
    return;
  }
  const bool first = data_ == nullptr;
  const bool other = project || first || data_->path != data->path;
  data_ = std::move(data);
  counts_ = nullptr;
  if (other) {
    TakeSettingsOf(*data_, project, first);
  } else {
    settings_.data = data_->path.toStdString();
  }
  Changed();
  Q_EMIT DataChanged();
  if (other && can_undo()) {
    Q_EMIT StartedAfresh();
  }
}

void RunDocument::TakeSettingsOf(const LoadedData& data, bool project, bool first) {
  TrainSettings former = settings_;
  former.data = data.settings.data;
  former.test = former.validation = "";
  ForgetColumns(former);
  settings_ = project ? data.settings : first ? former : ForOtherData(former);
  settings_.data = former.data;
  if (!project) {
    for (const auto& row : SettingRows<TrainSettings>()) {
      if (DecidesReading(row)) {
        std::visit([&](auto member) { settings_.*member = data.settings.*member; }, row.field);
        std::visit([&](auto member) { former.*member = data.settings.*member; }, row.field);
      }
    }
  }
  if (!first || project) {
    typed_.clear();
  }
  undo_.clear();
  redo_.clear();
  if (!project && !Same(former, settings_)) {
    undo_.push_back(former);
  }
}

QString RunDocument::StartBlocker() const {
  if (loading_) {
    return tr("Reading the data …");
  }
  if (data_ == nullptr) {
    return tr("Open a data file first.");
  }
  if (!problems_.empty()) {
    const auto& [name, text] = *problems_.begin();
    return name.empty() ? text : PlainLabelOf(name) + QStringLiteral(": ") + text;
  }
  if (reread_problem_) {
    return reread_problem_->Text();
  }
  if (planning_) {
    return tr("Checking the settings …");
  }
  return plan_problem_ ? plan_problem_->Text() : QString();
}

}  // namespace lamina::gui
