// Predictions of a file.
#include "predict_panel.h"
#include "lamina/settings/meanings.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "labels.h"
#include "lamina/base/file.h"
#include "lamina/model/training_rows.h"
#include "lamina/settings/settings.h"
#include "number_text.h"
#include "prediction_model.h"
#include "results_page.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr int kPictureRow = 32;  // pixels high

void PreparePredictions(QTableView& table) {
  table.setObjectName(QStringLiteral("predict.table"));
  table.setAccessibleName(PredictPanel::tr("Predictions"));
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.setAlternatingRowColors(true);
  table.setTabKeyNavigation(false);
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 8);
}

}  // namespace

PredictPanel::PredictPanel(ModelStore& store, RunDocument& document, Background& background, QWidget* parent)
    : QWidget(parent),
      store_(store),
      document_(document),
      background_(background),
      open_(new QPushButton(tr("P&redict a file …"))),
      save_(new QPushButton(tr("Save pre&dictions …"))),
      sheet_(new QComboBox),
      probabilities_(new QCheckBox(tr("with every class"))),
      summary_(new QLabel),
      wrong_(new QCheckBox(tr("Only &wrong answers"))),
      rows_(new PredictionModel(this)),
      table_(new QTableView) {
  probabilities_->setToolTip(tr("Saves the output of every class beside the predicted one"));
  auto* row = new QHBoxLayout;
  row->addWidget(open_);
  row->addWidget(sheet_);
  row->addStretch();
  row->addWidget(probabilities_);
  row->addWidget(save_);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addWidget(summary_);
  layout->addWidget(wrong_);
  wrong_->setObjectName(QStringLiteral("predict.wrong"));
  connect(wrong_, &QCheckBox::toggled, rows_, &PredictionModel::ShowWrongOnly);
  table_->setModel(rows_);
  layout->addWidget(table_, 1);
  open_->setObjectName(QStringLiteral("predict.open"));
  save_->setObjectName(QStringLiteral("predict.save"));
  sheet_->setObjectName(QStringLiteral("predict.sheet"));
  sheet_->setAccessibleName(tr("Sheet of the workbook"));
  sheet_->setToolTip(tr("Another sheet of the same workbook"));
  connect(sheet_, &QComboBox::activated, this, [this] {
    if (prediction_ != nullptr) {
      Predict(QString(prediction_->path), sheet_->currentText());
    }
  });
  summary_->setObjectName(QStringLiteral("predict.summary"));
  summary_->setWordWrap(true);
  PreparePredictions(*table_);
  connect(open_, &QPushButton::clicked, this, &PredictPanel::OpenRequested);
  connect(save_, &QPushButton::clicked, this, &PredictPanel::SaveRequested);
  connect(&store_, &ModelStore::Changed, this, [this] {
    if (prediction_ == nullptr || prediction_->model != store_.model()) {
      Show(nullptr);
    }
  });
  Show(nullptr);
}

void PredictPanel::Predict(const QString& path, const QString& sheet) {
  const std::shared_ptr<const Model> model = store_.model();
  if (model == nullptr) {
    Q_EMIT Failed({tr("There is no model to predict with"), tr("Train one, or open a model file.")});
    return;
  }
  summary_->setText(tr("Predicting %1 …").arg(QFileInfo(path).fileName()));
  ReadOptions options;
  if (const auto data = document_.data(); data != nullptr && data->path == path) {
    options = ReadOptionsFrom(data->settings);
  }
  options.sheet = sheet.isEmpty() ? options.sheet : sheet.toStdString();
  background_.Run([this, model, path, options]() -> Background::Then {
    std::shared_ptr<const FilePrediction> prediction;
    const auto problem = Attempt([&] { prediction = PredictFile(model, path, options); });
    return [this, model, prediction, problem] {
      if (model != store_.model()) {
        return;
      }
      Show(prediction);
      if (problem) {
        Q_EMIT Failed(*problem);
        return;
      }
      Q_EMIT Answered();
      if (prediction->answers.evaluation) {
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
  ShowSheets();
  const bool classes = prediction_ != nullptr && !prediction_->answers.classes.empty();
  probabilities_->setEnabled(classes);
  wrong_->setEnabled(classes && prediction_->answers.evaluation);
  if (!wrong_->isEnabled()) {
    wrong_->setChecked(false);
  }
  rows_->Set(prediction_);
  const bool pictures = prediction_ != nullptr && prediction_->pictures;
  table_->verticalHeader()->setDefaultSectionSize(pictures ? kPictureRow : fontMetrics().height() + 8);
  if (prediction_ == nullptr) {
    summary_->setText(model ? tr("Choose a file with the columns the model was trained on; the target may be missing.")
                            : tr("There is no model yet: train one, or open a file."));
    return;
  }
  FitColumns(*table_);
  summary_->setText(Summary());
}

void PredictPanel::ShowSheets() {
  sheet_->clear();
  if (prediction_ != nullptr && prediction_->table.sheet) {
    for (const std::string& name : prediction_->table.sheet->sheets) {
      sheet_->addItem(FromText(name));
    }
    sheet_->setCurrentText(FromText(prediction_->table.sheet->name));
  }
  sheet_->setVisible(sheet_->count() > 1);
}

QString PredictPanel::Summary() const {
  const Answers& answers = prediction_->answers;
  QString text =
      tr("%1 of %2")
          .arg(CountText(answers.outputs.rows(), tr("row"), tr("rows")), QFileInfo(prediction_->path).fileName());
  if (answers.evaluation) {
    text += QStringLiteral(": ") + EvaluationText(*answers.evaluation);
  }
  if (const FilePrediction::Far far = prediction_->FarRows(); far.rows > 0) {
    text += tr("; %1 far outside the values of the training, the first in row %2: %3")
                .arg(CountText(far.rows, tr("row"), tr("rows")))
                .arg(far.first + 1)
                .arg(prediction_->FarInputs(far.first).front());
  }
  std::vector<std::string> notes = answers.Notes();
  if (answers.evaluation) {
    if (answers.not_evaluated.rows > answers.without_answer.rows) {
      notes.push_back(answers.not_evaluated.Note(answers.outputs.rows(), "are not evaluated"));
    }
    notes.push_back(NoteOnTrainingRows(*prediction_->model, prediction_->path.toStdString()));
  }
  for (const std::string& note : notes) {
    text += note.empty() ? QString() : QLatin1Char('\n') + WithLabels(FromText(note));
  }
  return text;
}

void PredictPanel::Save(const QString& path) const {
  if (prediction_ != nullptr) {
    WriteFileAtomically(path.toStdString(), PredictionsCsv(*prediction_->model, prediction_->answers.outputs,
                                                           {.probabilities = probabilities_->isChecked()}));
  }
}

}  // namespace lamina::gui
