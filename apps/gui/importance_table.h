// ImportanceTable: which columns a model's answers depend on, the most important first, as numbers and bars.
#pragma once

#include <QTableWidget>

#include "lamina/model/explain.h"

namespace lamina::gui {

class ImportanceTable : public QTableWidget {
  Q_OBJECT
 public:
  explicit ImportanceTable(QWidget* parent = nullptr);
  void Set(const Importance& importance);
};

}  // namespace lamina::gui
