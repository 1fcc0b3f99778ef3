// Answers as a Qt model.
#include "prediction_model.h"

#include <QFont>
#include <QImage>
#include <algorithm>

#include "number_text.h"
#include "pictures.h"
#include "table_models.h"

namespace lamina::gui {
namespace {

constexpr size_t kMostInputs = 60;  // shown beside an answer
constexpr int kPictureSide = 28;

}  // namespace

void PredictionModel::Set(std::shared_ptr<const FilePrediction> prediction) {
  beginResetModel();
  prediction_ = std::move(prediction);
  ListColumns();
  ListRows();
  endResetModel();
}

void PredictionModel::ShowWrongOnly(bool wrong_only) {
  beginResetModel();
  wrong_only_ = wrong_only;
  ListRows();
  endResetModel();
}

void PredictionModel::ListColumns() {
  columns_.clear();
  if (prediction_ == nullptr) {
    return;
  }
  const Preprocessor& preprocessor = prediction_->model->preprocessor;
  QStringList names;
  for (const std::string& name : preprocessor.targets().names()) {
    names << FromText(name);
  }
  const QString target = names.join(QStringLiteral(", "));
  if (prediction_->pictures) {
    columns_.push_back({Kind::kPicture, tr("image")});
  }
  columns_.push_back({Kind::kAnswer, tr("predicted %1").arg(target)});
  if (!prediction_->answers.classes.empty()) {
    columns_.push_back({Kind::kOutput, OutputName(*prediction_->model)});
  }
  if (prediction_->answers.evaluation) {
    columns_.push_back({Kind::kTruth, tr("%1 in the file").arg(target)});
  }
  const std::vector<int64_t>& inputs = prediction_->input_columns;
  for (size_t i = 0; i < std::min(inputs.size(), kMostInputs) && !prediction_->pictures; ++i) {
    const Column& column = prediction_->table.columns[static_cast<size_t>(inputs[i])];
    columns_.push_back({Kind::kInput, FromText(column.name), inputs[i]});
  }
}

void PredictionModel::ListRows() {
  rows_.clear();
  if (prediction_ == nullptr) {
    return;
  }
  for (int64_t row = 0; row < prediction_->answers.outputs.rows(); ++row) {
    if (!wrong_only_ || prediction_->IsWrong(row)) {
      rows_.push_back(row);
    }
  }
}

int PredictionModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(std::min<size_t>(rows_.size(), 1 << 30));
}

int PredictionModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant PredictionModel::data(const QModelIndex& index, int role) const {
  const int64_t row = rows_[static_cast<size_t>(index.row())];
  const Shown& shown = columns_[static_cast<size_t>(index.column())];
  if (role == Qt::DisplayRole) {
    switch (shown.kind) {
      case Kind::kPicture: return {};
      case Kind::kAnswer: return prediction_->Text(row);
      case Kind::kOutput:
        return prediction_->answers.has_answer(row) ? QString::number(prediction_->Confidence(row), 'f', 4) : QString();
      case Kind::kTruth: return prediction_->Truth(row);
      case Kind::kInput: return CellText(prediction_->table.columns[static_cast<size_t>(shown.column)], row);
    }
  }
  if (role == Qt::DecorationRole && shown.kind == Kind::kPicture) {
    return PictureOf(prediction_->table, *prediction_->pictures, row)
        .scaled(kPictureSide, kPictureSide, Qt::KeepAspectRatio);
  }
  if (role == Qt::TextAlignmentRole) {
    const bool number =
        shown.kind == Kind::kOutput ||
        (shown.kind == Kind::kInput &&
         prediction_->table.columns[static_cast<size_t>(shown.column)].kind == ColumnKind::kNumber) ||
        (prediction_->answers.classes.empty() && (shown.kind == Kind::kAnswer || shown.kind == Kind::kTruth));
    return QVariant(number ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
  }
  if (shown.kind == Kind::kTruth && prediction_->IsWrong(row)) {
    if (role == Qt::FontRole) {
      QFont bold;
      bold.setBold(true);
      return bold;
    }
    if (role == Qt::ToolTipRole) {
      return tr("not what was predicted");
    }
  }
  return {};
}

QVariant PredictionModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole) {
    return {};
  }
  return orientation == Qt::Horizontal ? columns_[static_cast<size_t>(section)].title
                                       : QString::number(rows_[static_cast<size_t>(section)] + 1);
}

}  // namespace lamina::gui
