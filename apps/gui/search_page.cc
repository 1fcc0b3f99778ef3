// The page of searches.
#include "search_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include "curves_view.h"
#include "form_scroll.h"
#include "labels.h"
#include "lamina/base/text.h"
#include "number_text.h"
#include "search_form.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr int kPullTrials_ms = 250;
constexpr size_t kColumnsAfter = 5;  // state, epoch, accuracy, loss, time

}  // namespace

void TrialsModel::Set(std::shared_ptr<const SearchFindings> findings) {
  const bool same = findings_ != nullptr && findings != nullptr &&
                    findings->trials.size() == findings_->trials.size() &&
                    findings->parameters == findings_->parameters;
  if (same) {
    findings_ = std::move(findings);
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  findings_ = std::move(findings);
  endResetModel();
}

int TrialsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || findings_ == nullptr ? 0 : static_cast<int>(findings_->trials.size());
}

int TrialsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || findings_ == nullptr ? 0 : static_cast<int>(findings_->parameters.size() + kColumnsAfter);
}

QString TrialsModel::TextOf(size_t row, size_t column) const {
  const Trial& trial = findings_->trials[row];
  const TrialScore& score = findings_->scores[row];
  if (column < findings_->parameters.size()) {
    return FromText(trial.values[column]);
  }
  switch (column - findings_->parameters.size()) {
    case 0: return trial.failure.empty() ? FromText(TrialStateName(trial.state)) : tr("failed");
    case 1: return score.epoch == 0 ? QString() : FromText(WithThousands(score.epoch));
    case 2: return score.epoch == 0 ? QString() : PercentText(score.accuracy);
    case 3: return score.epoch == 0 ? QString() : NumberText(score.loss);
    default: return FromText(DurationText(trial.seconds()));
  }
}

QVariant TrialsModel::data(const QModelIndex& index, int role) const {
  const auto row = static_cast<size_t>(index.row());
  switch (role) {
    case Qt::DisplayRole: return TextOf(row, static_cast<size_t>(index.column()));
    case Qt::ToolTipRole: return WithLabels(FromText(findings_->trials[row].failure));
    case Qt::TextAlignmentRole:
      return QVariant(static_cast<size_t>(index.column()) == findings_->parameters.size()
                          ? Qt::AlignLeft | Qt::AlignVCenter
                          : Qt::AlignRight | Qt::AlignVCenter);
    default: return {};
  }
}

QVariant TrialsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || findings_ == nullptr) {
    return {};
  }
  if (orientation == Qt::Vertical) {
    return QString::number(section + 1);
  }
  const auto column = static_cast<size_t>(section);
  if (column < findings_->parameters.size()) {
    return PlainLabelOf(findings_->parameters[column]);
  }
  const QString names[kColumnsAfter] = {tr("State"), tr("Epoch"), tr("Accuracy"), tr("Loss"), tr("Time")};
  return names[column - findings_->parameters.size()];
}

SearchPage::SearchPage(RunDocument& document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      form_(new SearchForm(document)),
      trials_(new TrialsModel(this)),
      start_(new QPushButton(tr("Start the sea&rch"))),
      stop_(new QPushButton(tr("St&op the search"))) {
  auto* layout = new QHBoxLayout(this);
  auto* left = new QVBoxLayout;
  auto* row = new QHBoxLayout;
  problem_ = new ProblemLabel;
  problem_->setObjectName(QStringLiteral("search.problem"));
  start_->setObjectName(QStringLiteral("search.start"));
  stop_->setObjectName(QStringLiteral("search.stop"));
  row->addWidget(start_);
  row->addWidget(stop_);
  row->addStretch();
  left->addWidget(new FormScroll(form_), 1);
  left->addWidget(problem_);
  left->addLayout(row);
  layout->addLayout(left);
  layout->addWidget(MakeResults(), 1);
  connect(start_, &QPushButton::clicked, this, &SearchPage::Start);
  connect(stop_, &QPushButton::clicked, this, [this] { worker_.Stop(); });
  connect(form_, &SearchForm::Changed, this, &SearchPage::ShowState);
  connect(&document_, &RunDocument::PlanChanged, this, &SearchPage::ShowState);
  connect(&worker_, &SearchWorker::StateChanged, this, &SearchPage::ShowState);
  connect(&worker_, &SearchWorker::Failed, this, &SearchPage::Failed);
  connect(&worker_, &SearchWorker::Finished, this, [this](bool interrupted, double seconds, const QString& compared) {
    Pull();
    table_->selectRow(0);
    Q_EMIT Note(tr("%1 after %2. The best trial is the first%3.")
                    .arg(interrupted ? tr("Search stopped") : tr("Search done"), FromText(DurationText(seconds)),
                         compared.isEmpty() ? QString() : QStringLiteral("; ") + WithLabels(compared)));
  });
  timer_.setInterval(kPullTrials_ms);
  connect(&timer_, &QTimer::timeout, this, &SearchPage::Pull);
  ShowState();
}

QWidget* SearchPage::MakeResults() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 0);
  status_ = new QLabel;
  status_->setWordWrap(true);
  status_->setObjectName(QStringLiteral("search.status"));
  table_ = new QTableView;
  table_->setModel(trials_);
  table_->setObjectName(QStringLiteral("search.trials"));
  table_->setAccessibleName(tr("Trials, the best first"));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setAlternatingRowColors(true);
  table_->setTabKeyNavigation(false);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  curves_ = new CurvesView;
  auto* splitter = new QSplitter(Qt::Vertical);
  splitter->addWidget(table_);
  splitter->addWidget(curves_);
  splitter->setChildrenCollapsible(false);
  use_ = new QPushButton(tr("Use its sett&ings"));
  train_ = new QPushButton(tr("Train with the&m"));
  use_->setObjectName(QStringLiteral("search.use"));
  train_->setObjectName(QStringLiteral("search.train"));
  auto* row = new QHBoxLayout;
  row->addWidget(status_, 1);
  row->addWidget(use_);
  row->addWidget(train_);
  layout->addLayout(row);
  layout->addWidget(splitter, 1);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &SearchPage::ShowTrial);
  connect(use_, &QPushButton::clicked, this, &SearchPage::UseTrial);
  connect(train_, &QPushButton::clicked, this, [this] {
    UseTrial();
    Q_EMIT TrainRequested();
  });
  return box;
}

void SearchPage::Start() {
  const SearchSettings settings = form_->SettingsFor(document_.settings());
  if (settings.ensemble > 0 && may_replace_model && !may_replace_model()) {
    return;
  }
  curves_->Clear();
  trials_->Set(nullptr);
  fitted_to_ = -1;
  worker_.Start(settings);
}

void SearchPage::SetTraining(bool training) {
  training_ = training;
  ShowState();
}

void SearchPage::ShowState() {
  const bool active = worker_.active();
  QString blocker = document_.StartBlocker();
  if (blocker.isEmpty()) {
    const auto problem = Attempt([this] { ValidateSearch(form_->SettingsFor(document_.settings())); });
    blocker = problem ? problem->Text() : QString();
    problem_->SetProblem(blocker);
  } else {
    problem_->SetProblem({});
  }
  start_->setEnabled(!active && !training_ && blocker.isEmpty());
  start_->setToolTip(blocker);
  stop_->setEnabled(active);
  active ? timer_.start() : timer_.stop();
  if (!active && trials_->findings() == nullptr) {
    status_->setText(
        tr("Every combination is trained on the same rows and compared on the validation rows; hopeless "
           "ones end early."));
  }
  ShowTrial();
}

void SearchPage::Pull() {
  const auto findings = worker_.findings();
  if (findings == nullptr) {
    status_->setText(tr("Preparing the data …"));
    return;
  }
  trials_->Set(findings);
  int64_t done = 0;
  for (const Trial& trial : findings->trials) {
    const bool ended =
        trial.state == TrialState::kDone || trial.state == TrialState::kStopped || trial.state == TrialState::kFailed;
    done += ended ? 1 : 0;
  }
  if (done != fitted_to_) {  // their figures are longer than empty cells
    fitted_to_ = done;
    FitColumns(*table_);
  }
  status_->setText(tr("Stage %1 of %2; %3 of %4 ended")
                       .arg(findings->stage)
                       .arg(findings->stages)
                       .arg(done)
                       .arg(CountText(std::ssize(findings->trials), tr("trial"), tr("trials"))));
  ShowTrial();
}

const Trial* SearchPage::Chosen() const {
  const SearchFindings* findings = trials_->findings();
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  if (findings == nullptr || findings->trials.empty()) {
    return nullptr;
  }
  return &findings->trials[rows.isEmpty() ? 0 : static_cast<size_t>(rows.front().row())];
}

void SearchPage::ShowTrial() {
  const Trial* trial = Chosen();
  const bool usable = trial != nullptr && !worker_.active() && trial->state != TrialState::kFailed;
  use_->setEnabled(usable);
  train_->setEnabled(usable);
  if (trial != nullptr) {
    curves_->Set(trial->history);
  }
}

void SearchPage::UseTrial() {
  if (const Trial* trial = Chosen(); trial != nullptr && !worker_.active()) {
    const TrainSettings found = worker_.SettingsOf(*trial);
    document_.Replace([&](TrainSettings& settings) { settings = found; });
    Q_EMIT Note(tr("The settings are those of the trial now (Edit > Undo brings the former ones back)."));
  }
}

}  // namespace lamina::gui
