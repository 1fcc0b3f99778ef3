// PredictionModel: the answers for a file as a table, beside the row that each is for; all rows, or the wrong ones.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "prediction.h"

namespace lamina::gui {

class PredictionModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;

  void Set(std::shared_ptr<const FilePrediction> prediction);
  void ShowWrongOnly(bool wrong_only);
  /// Rows of the file that are shown.
  const std::vector<int64_t>& rows() const { return rows_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  enum class Kind { kPicture, kAnswer, kOutput, kTruth, kInput };
  struct Shown {
    Kind kind;
    QString title;
    int64_t column = 0;  // of the table: inputs
  };
  void ListColumns();
  void ListRows();

  std::shared_ptr<const FilePrediction> prediction_;
  std::vector<Shown> columns_;
  std::vector<int64_t> rows_;
  bool wrong_only_ = false;
};

}  // namespace lamina::gui
