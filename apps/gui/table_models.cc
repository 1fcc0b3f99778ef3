// Models over a lamina::Table.
#include "table_models.h"

#include <QBrush>
#include <QFont>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPalette>
#include <QTableView>
#include <algorithm>

#include "labels.h"
#include "lamina/base/text.h"
#include "number_text.h"

namespace lamina::gui {
namespace {

constexpr int kDecided = 5;  // column
constexpr int64_t kPreviewRows = 200;
constexpr int64_t kPreviewColumns = 200;
constexpr QRgb kOddColour = 0x50d1600a;  // behind cells that are none of their column

const Table* TableOf(const std::shared_ptr<const LoadedData>& data) {
  return data == nullptr ? nullptr : &data->raw.main.train;
}

}  // namespace

std::string ColumnReference(const Table& table, int column) {
  const std::string& name = table.columns[static_cast<size_t>(column)].name;
  const auto same =
      std::count_if(table.columns.begin(), table.columns.end(), [&](const Column& each) { return each.name == name; });
  const bool plain = !name.empty() && name.find(',') == std::string::npos && Trim(name) == name;
  return same == 1 && plain ? name : std::to_string(column);
}

QString CellText(const Column& column, int64_t row) {
  if (column.IsMissing(row)) {
    return {};
  }
  if (column.kind == ColumnKind::kText) {
    return FromText(column.categories[static_cast<size_t>(column.codes[static_cast<size_t>(row)])]);
  }
  return column.is_date ? FromText(DateText(column.Number(row))) : QString::number(column.Number(row), 'g', 9);
}

QString OddText(const Column& column, int64_t row) {
  const std::vector<OddCells::Cell>& cells = column.odd.cells;
  const auto found = std::lower_bound(cells.begin(), cells.end(), row,
                                      [](const OddCells::Cell& cell, int64_t wanted) { return cell.row < wanted; });
  return found == cells.end() || found->row != row ? QString()
                                                   : FromText(column.odd.words[static_cast<size_t>(found->word)]);
}

void FitColumns(QTableView& view) {
  constexpr int kRowsLookedAt = 30;
  constexpr int kColumnsFitted = 200;
  const int most = view.fontMetrics().averageCharWidth() * 32;
  view.horizontalHeader()->setResizeContentsPrecision(kRowsLookedAt);
  view.setTextElideMode(Qt::ElideMiddle);  // names and questions often begin alike
  for (int column = 0; column < std::min(view.model()->columnCount(), kColumnsFitted); ++column) {
    view.resizeColumnToContents(column);
    view.setColumnWidth(column, std::min(view.columnWidth(column), most));
  }
}

void PreviewModel::Set(std::shared_ptr<const LoadedData> data) {
  beginResetModel();
  data_ = std::move(data);
  endResetModel();
}

int PreviewModel::rowCount(const QModelIndex& parent) const {
  const Table* table = TableOf(data_);
  return parent.isValid() || table == nullptr ? 0 : static_cast<int>(std::min(table->rows, kPreviewRows));
}

int PreviewModel::columnCount(const QModelIndex& parent) const {
  const Table* table = TableOf(data_);
  return parent.isValid() || table == nullptr ? 0
                                              : static_cast<int>(std::min(std::ssize(table->columns), kPreviewColumns));
}

QVariant PreviewModel::data(const QModelIndex& index, int role) const {
  const Column& column = data_->raw.main.train.columns[static_cast<size_t>(index.column())];
  const bool missing = column.IsMissing(index.row());
  const QString odd = missing ? OddText(column, index.row()) : QString();
  switch (role) {
    case Qt::DisplayRole: return !odd.isEmpty() ? odd : missing ? tr("missing") : CellText(column, index.row());
    case Qt::ToolTipRole:
      return odd.isEmpty() ? QVariant()
                           : tr("“%1” is no number: it counts as missing (“%2” on this page decides otherwise)")
                                 .arg(odd, PlainLabelOf("text-columns"));
    case Qt::BackgroundRole: return odd.isEmpty() ? QVariant() : QBrush(QColor::fromRgba(kOddColour));
    case Qt::FontRole: {
      QFont font;
      font.setStrikeOut(true);
      return odd.isEmpty() ? QVariant() : QVariant(font);
    }
    case Qt::TextAlignmentRole:
      return QVariant(column.kind == ColumnKind::kNumber ? Qt::AlignRight | Qt::AlignVCenter
                                                         : Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      return missing && odd.isEmpty() ? QVariant(QGuiApplication::palette().brush(QPalette::Disabled, QPalette::Text))
                                      : QVariant();
    default: return {};
  }
}

QVariant PreviewModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || data_ == nullptr) {
    return {};
  }
  return orientation == Qt::Horizontal ? FromText(data_->raw.main.train.columns[static_cast<size_t>(section)].name)
                                       : QString::number(section + 1);
}

ColumnsModel::ColumnsModel(RunDocument& document, QObject* parent) : QAbstractTableModel(parent), document_(document) {
  connect(&document_, &RunDocument::SettingsChanged, this, &ColumnsModel::Update);
  connect(&document_, &RunDocument::DataChanged, this, &ColumnsModel::Update);
  connect(&document_, &RunDocument::PlanChanged, this, &ColumnsModel::Update);
}

void ColumnsModel::Update() {
  const auto data = document_.data();
  const Table* table = TableOf(data);
  std::vector<ColumnUse> uses(table == nullptr ? 0 : table->columns.size(), ColumnUse::kInput);
  const auto mark = [&](const std::string& name, ColumnUse use) {
    Attempt([&] { uses[static_cast<size_t>(table->FindColumn(name))] = use; });
  };
  if (table != nullptr) {
    const TrainSettings& settings = document_.settings();
    for (const std::string& name : settings.drop) {
      mark(name, ColumnUse::kDropped);
    }
    for (const std::string& name : settings.target) {
      mark(name, ColumnUse::kTarget);
    }
    if (settings.target.empty()) {
      mark(data->raw.main.target.value_or("-1"), ColumnUse::kTarget);
    }
  }
  if (uses.size() != uses_.size()) {
    beginResetModel();
    uses_ = std::move(uses);
    endResetModel();
  } else if (!uses.empty()) {
    uses_ = std::move(uses);
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  }
}

int ColumnsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(uses_.size());
}

int ColumnsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : kDecided + 1; }

const ColumnDecision* ColumnsModel::DecisionOn(int row) const {
  const auto plan = document_.plan();
  if (plan == nullptr) {
    return nullptr;
  }
  const std::string& name = document_.data()->raw.main.train.columns[static_cast<size_t>(row)].name;
  const auto found = std::find_if(plan->data.decisions.begin(), plan->data.decisions.end(),
                                  [&](const ColumnDecision& decision) { return decision.column == name; });
  return found == plan->data.decisions.end() ? nullptr : &*found;
}

bool ColumnsModel::IsLeftOut(const std::string& name) const {
  const auto plan = document_.plan();
  if (plan == nullptr) {
    return false;
  }
  const std::vector<LeftOutColumn>& left_out = plan->data.preprocessor.left_out();
  return std::any_of(left_out.begin(), left_out.end(), [&](const LeftOutColumn& each) { return each.name == name; });
}

QString ColumnsModel::TextOf(int row, int column) const {
  const auto data = document_.data();
  const Column& each = data->raw.main.train.columns[static_cast<size_t>(row)];
  const ColumnSummary& summary = data->summaries[static_cast<size_t>(row)];
  const bool number = each.kind == ColumnKind::kNumber;
  const auto text = [&](double value) { return each.is_date ? FromText(DateText(value)) : NumberText(value); };
  switch (column) {
    case 0: return FromText(each.name);
    case 1:
      if (each.is_date) {
        return tr("date");
      }
      return number ? tr("number") : tr("text");
    case 2: return FromText(WithThousands(summary.missing));
    case 3:
      if (!number) {
        return tr("%n different", nullptr, static_cast<int>(summary.categories));
      }
      return summary.numbers.count == 0 ? tr("none")
                                        : tr("%1 to %2").arg(text(summary.numbers.min), text(summary.numbers.max));
    case kDecided: {
      const ColumnDecision* decision = DecisionOn(row);
      return decision == nullptr ? QString() : FromText(decision->what);
    }
    default:
      switch (uses_[static_cast<size_t>(row)]) {
        case ColumnUse::kInput: return IsLeftOut(each.name) ? tr("left out") : tr("input");
        case ColumnUse::kTarget: return tr("target");
        case ColumnUse::kDropped: return tr("dropped");
      }
  }
  return {};
}

QVariant ColumnsModel::data(const QModelIndex& index, int role) const {
  const ColumnUse use = uses_[static_cast<size_t>(index.row())];
  switch (role) {
    case Qt::DisplayRole: return TextOf(index.row(), index.column());
    case Qt::ToolTipRole: {
      const ColumnDecision* decision = index.column() == kDecided ? DecisionOn(index.row()) : nullptr;
      const QString text = TextOf(index.row(), index.column());
      return decision == nullptr ? text : tr("%1. Otherwise: %2").arg(text, WithLabels(FromText(decision->otherwise)));
    }
    case Qt::TextAlignmentRole:
      return QVariant(index.column() == 2 ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignVCenter);
    case Qt::FontRole: {
      QFont font;
      font.setBold(use == ColumnUse::kTarget);
      font.setStrikeOut(use == ColumnUse::kDropped && index.column() == 0);
      return font;
    }
    case Qt::ForegroundRole:
      return use == ColumnUse::kDropped ? QVariant(QGuiApplication::palette().brush(QPalette::Disabled, QPalette::Text))
                                        : QVariant();
    default: return {};
  }
}

QVariant ColumnsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole) {
    return {};
  }
  if (orientation == Qt::Vertical) {
    return QString::number(section);
  }
  const QString names[] = {tr("Column"), tr("Type"), tr("Missing"), tr("Range"), tr("Use"), tr("Decided")};
  return names[section];
}

void ColumnsModel::SetUse(const std::vector<int>& columns, ColumnUse use) {
  const auto data = document_.data();
  if (data == nullptr || columns.empty()) {
    return;
  }
  std::vector<ColumnUse> uses = uses_;
  if (use == ColumnUse::kTarget) {
    std::replace(uses.begin(), uses.end(), ColumnUse::kTarget, ColumnUse::kInput);
  }
  for (const int column : columns) {
    uses[static_cast<size_t>(column)] = use;
  }
  if (std::find(uses.begin(), uses.end(), ColumnUse::kTarget) == uses.end()) {
    return;  // there must be something to predict: name another target first
  }
  document_.Edit([&](TrainSettings& settings) {
    settings.target.clear();
    settings.drop.clear();
    for (size_t i = 0; i < uses.size(); ++i) {
      const std::string reference = ColumnReference(data->raw.main.train, static_cast<int>(i));
      if (uses[i] != ColumnUse::kInput) {
        (uses[i] == ColumnUse::kTarget ? settings.target : settings.drop).push_back(reference);
      }
    }
  });
}

}  // namespace lamina::gui
