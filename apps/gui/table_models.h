// The data file as Qt models: its first rows, and its columns with what they hold and what they are used for.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "run_document.h"

class QTableView;

namespace lamina::gui {

/// The first rows, as they were read. Cells that count as missing although they are not empty are marked.
class PreviewModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void Set(std::shared_ptr<const LoadedData> data);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::shared_ptr<const LoadedData> data_;
};

enum class ColumnUse { kInput, kTarget, kDropped };

/// One row a column: name, type, missing values, range, use, and what was decided about it that nobody asked for. The
/// uses are those of the document's settings.
class ColumnsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit ColumnsModel(RunDocument& document, QObject* parent = nullptr);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  /// Changes the document's target and dropped columns.
  void SetUse(const std::vector<int>& columns, ColumnUse use);
  ColumnUse UseOf(int column) const { return uses_[static_cast<size_t>(column)]; }

 private:
  void Update();
  QString TextOf(int row, int column) const;
  /// Null where nothing was decided about the column of this row.
  const ColumnDecision* DecisionOn(int row) const;
  bool IsLeftOut(const std::string& name) const;

  RunDocument& document_;
  std::vector<ColumnUse> uses_;
};

/// Columns as wide as the first rows and the names need, within reason.
void FitColumns(QTableView& view);
/// How a setting names a column: its name where that is unambiguous, else its number.
std::string ColumnReference(const Table& table, int column);
/// What stands in a cell that counts as missing although it is not empty; "" for all others.
QString OddText(const Column& column, int64_t row);
/// A cell as text; "" where it is missing.
QString CellText(const Column& column, int64_t row);

}  // namespace lamina::gui
