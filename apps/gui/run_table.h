// RunTable: the list of runs as a table: tick one to lay its curves over the present ones, take back its model or
// settings.
#pragma once

#include <QWidget>

#include "run_list.h"

class QPushButton;
class QTableWidget;
class QTableWidgetItem;

namespace lamina::gui {

class ModelStore;

class RunTable : public QWidget {
  Q_OBJECT
 public:
  RunTable(RunList& runs, const ModelStore& store, QWidget* parent = nullptr);

 Q_SIGNALS:
  void ModelRequested(std::shared_ptr<const lamina::gui::TrainOutcome> outcome);
  void SettingsRequested(const lamina::TrainSettings& settings);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void Show();
  void ShowButtons();
  void Fit();
  void Take(QTableWidgetItem* item);
  int Chosen() const;

  RunList& runs_;
  const ModelStore& store_;
  QTableWidget* table_;
  QPushButton* model_;
  QPushButton* settings_;
  QPushButton* remove_;
};

}  // namespace lamina::gui
