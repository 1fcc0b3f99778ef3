// Predictions of a file.
#include "predict_panel.h"

#include <QCheckBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "lamina/base/file.h"
#include "lamina/base/text.h"
#include "results_page.h"

namespace lamina::gui {
namespace {

constexpr int64_t kShownRows = 1000;

}  // namespace

PredictPanel::PredictPanel(ModelStore& store, Background& background, QWidget* parent)
    : QWidget(parent),
      store_(store),
      background_(background),
      open_(new QPushButton(tr("P&redict a file …"))),
      save_(new QPushButton(tr("Save pre&dictions …"))),
      probabilities_(new QCheckBox(tr("with every class's output"))),
      summary_(new QLabel),
      table_(new QTableWidget) {
  auto* row = new QHBoxLayout;
  row->addWidget(open_);
  row->addStretch();
  row->addWidget(probabilities_);
  row->addWidget(save_);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addWidget(summary_);
  layout->addWidget(table_, 1);
  open_->setObjectName(QStringLiteral("predict.open"));
  save_->setObjectName(QStringLiteral("predict.save"));
  summary_->setObjectName(QStringLiteral("predict.summary"));
  summary_->setWordWrap(true);
  table_->setObjectName(QStringLiteral("predict.table"));
  table_->setAccessibleName(tr("Predictions"));
  table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table_->setAlternatingRowColors(true);
  table_->setTabKeyNavigation(false);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 8);
  connect(open_, &QPushButton::clicked, this, &PredictPanel::OpenRequested);
  connect(save_, &QPushButton::clicked, this, &PredictPanel::SaveRequested);
  connect(&store_, &ModelStore::Changed, this, [this] {
    if (prediction_ == nullptr || prediction_->model != store_.model()) {
      Show(nullptr);
    }
  });
  Show(nullptr);
}

void PredictPanel::Predict(const QString& path) {
  const std::shared_ptr<const Model> model = store_.model();
  if (model == nullptr) {
    Q_EMIT Failed({tr("There is no model to predict with"), tr("Train one, or open a model file.")});
    return;
  }
  summary_->setText(tr("Predicting %1 …").arg(QFileInfo(path).fileName()));
  background_.Run([this, model, path]() -> Background::Then {
    std::shared_ptr<const FilePrediction> prediction;
    const auto problem = Attempt([&] { prediction = PredictFile(model, path); });
    return [this, model, prediction, problem] {
      if (model != store_.model()) {
        return;
      }
      Show(prediction);
      if (problem) {
        Q_EMIT Failed(*problem);
      } else if (prediction->answers.evaluation) {
        Q_EMIT Evaluated(prediction);
      }
    };
  });
}

void PredictPanel::Show(std::shared_ptr<const FilePrediction> prediction) {
  prediction_ = std::move(prediction);
  const bool model = store_.model() != nullptr;
  open_->setEnabled(model);
  save_->setEnabled(prediction_ != nullptr);
  probabilities_->setEnabled(prediction_ != nullptr && !prediction_->answers.classes.empty());
  table_->clear();
  table_->setRowCount(0);
  table_->setColumnCount(0);
  if (prediction_ == nullptr) {
    summary_->setText(model ? tr("Choose a file with the columns the model was trained on; the target may be missing.")
                            : tr("There is no model yet: train one, or open a file."));
    return;
  }
  const Answers& answers = prediction_->answers;
  const int64_t rows = answers.outputs.rows();
  QString text = tr("%1 rows of %2").arg(FromText(WithThousands(rows)), QFileInfo(prediction_->path).fileName());
  if (answers.evaluation) {
    text += QStringLiteral(": ") + EvaluationText(*answers.evaluation);
  }
  const auto add_gaps = [&](const LeftOut& gaps, const QString& what) {
    if (gaps.rows > 0) {
      text += tr("; %1 rows %2: a value is missing, the first in %3")
                  .arg(FromText(WithThousands(gaps.rows)), what, FromText(gaps.Where()));
    }
  };
  add_gaps(answers.without_answer, tr("have no answer"));
  if (answers.evaluation && answers.not_evaluated.rows > answers.without_answer.rows) {
    add_gaps(answers.not_evaluated, tr("are not evaluated"));
  }
  if (answers.report.unseen_values > 0) {
    text += tr("; %1 values of categories that training did not see became zeros")
                .arg(FromText(WithThousands(answers.report.unseen_values)));
  }
  if (rows > kShownRows) {
    text += tr(" (the first %1 are shown)").arg(kShownRows);
  }
  summary_->setText(text);
  const bool classes = !answers.classes.empty();
  QStringList names;
  for (const std::string& name : store_.model()->preprocessor.targets().names()) {
    names << FromText(name);
  }
  QStringList headers{tr("predicted %1").arg(names.join(QStringLiteral(", ")))};
  if (classes) {
    headers << tr("output of that class");
  }
  const bool truth = answers.evaluation.has_value();
  if (truth) {
    headers << tr("%1 in the file").arg(names.join(QStringLiteral(", ")));
  }
  table_->setColumnCount(static_cast<int>(headers.size()));
  table_->setHorizontalHeaderLabels(headers);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  table_->setRowCount(static_cast<int>(std::min(rows, kShownRows)));
  for (int i = 0; i < table_->rowCount(); ++i) {
    table_->setItem(i, 0, new QTableWidgetItem(prediction_->Text(i)));
    if (classes && answers.has_answer(i)) {
      table_->setItem(i, 1, new QTableWidgetItem(QString::number(prediction_->Confidence(i), 'f', 4)));
    }
    if (truth) {
      const QString known = prediction_->Truth(i);
      auto* item = new QTableWidgetItem(known);
      if (classes && !known.isEmpty() && known != prediction_->Text(i)) {
        QFont bold = table_->font();
        bold.setBold(true);
        item->setFont(bold);
        item->setToolTip(tr("not what was predicted"));
      }
      table_->setItem(i, headers.size() - 1, item);
    }
  }
}

void PredictPanel::Save(const QString& path) const {
  if (prediction_ != nullptr) {
    WriteFileAtomically(path.toStdString(),
                        PredictionsCsv(*prediction_->model, prediction_->answers.outputs, probabilities_->isChecked()));
  }
}

}  // namespace lamina::gui
