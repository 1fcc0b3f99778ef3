// Settings, data and plan, kept in step.
#include "run_document.h"

#include "labels.h"
#include "lamina/train/settings_text.h"

namespace lamina::gui {
namespace {

constexpr int kTypingPause_ms = 120;
constexpr int kLoadPause_ms = 600;

std::string ReadingOf(const TrainSettings& settings) {
  std::string text;
  for (const auto& row : SettingRows<TrainSettings>()) {
    text += row.reads_file ? SettingText(settings, row.name) + '\n' : "";
  }
  return text;
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
  try {
    SetSetting(settings_, name, text.toStdString());
    typed_.erase(name);
  } catch (const Error& error) {
    typed_[name] = WithoutOwnName(gui::ProblemOf(error).Text(), name);
  }
  Changed();
}

void RunDocument::Edit(const std::function<void(TrainSettings&)>& change) {
  const TrainSettings before = settings_;
  change(settings_);
  std::erase_if(typed_, [&](const auto& typed) {
    return SettingText(before, typed.first) != SettingText(settings_, typed.first);
  });
  Changed();
}

void RunDocument::Replace(const std::function<void(TrainSettings&)>& change) {
  typed_.clear();
  Edit(change);
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
  background_.Run([this, generation = generation_, settings = settings_, data = data_]() -> Background::Then {
    std::shared_ptr<const RunPlan> plan;
    const auto problem = Attempt([&] { plan = std::make_shared<RunPlan>(PlanRun(settings, data->raw)); });
    return [this, generation, plan, problem] {
      if (generation == generation_) {
        plan_ = plan;
        plan_problem_ = problem;
        planning_ = false;
        Q_EMIT PlanChanged();
      }
    };
  });
}

void RunDocument::Load(const QString& path) {
  loading_ = true;
  reread_problem_.reset();
  Q_EMIT PlanChanged();
  load_timer_.stop();
  TrainSettings settings = settings_;
  if (path != path_) {
    ForgetColumns(settings);
  }
  settings.data = path.toStdString();
  path_ = path;
  reading_ = ReadingOf(settings_);
  background_.Run([this, settings, path]() -> Background::Then {
    auto data = std::make_shared<LoadedData>();
    const auto problem = Attempt([&] {
      data->path = path;
      data->text_columns = settings.text_columns;
      data->raw = ReadRawData(settings);
      data->summaries = SummarizeColumns(data->raw.main.train);
    });
    return [this, data, problem] { Loaded(data, problem); };
  });
}

void RunDocument::Loaded(std::shared_ptr<const LoadedData> data, const std::optional<Problem>& problem) {
  loading_ = false;
  if (problem) {
    if (data_ != nullptr && data_->path == path_) {
      reread_problem_ = problem;
    }
    Q_EMIT PlanChanged();
    Q_EMIT LoadFailed(*problem);
    return;
  }
  const bool other = data_ == nullptr || data_->path != data->path;
  data_ = std::move(data);
  Edit([&](TrainSettings& settings) {
    settings.data = data_->path.toStdString();
    if (other) {
      ForgetColumns(settings);
      settings.text_columns = data_->text_columns;
      reading_ = ReadingOf(settings);
    }
  });
  Q_EMIT DataChanged();
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
