// SearchPage: many trainings with other settings, compared on the validation rows.
#pragma once

#include <QAbstractTableModel>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <memory>

#include "run_document.h"
#include "search_worker.h"

class QLabel;
class QPushButton;
class QTableView;

namespace lamina::gui {

class CurvesView;
class ProblemLabel;
class SearchForm;

/// The trials, the best first.
class TrialsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  using QAbstractTableModel::QAbstractTableModel;
  void Set(std::shared_ptr<const SearchFindings> findings);
  const SearchFindings* findings() const { return findings_.get(); }
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString TextOf(size_t row, size_t column) const;
  std::shared_ptr<const SearchFindings> findings_;
};

class SearchPage : public QWidget {
  Q_OBJECT
 public:
  explicit SearchPage(RunDocument& document, QWidget* parent = nullptr);

  SearchWorker& worker() { return worker_; }
  SearchForm& form() { return *form_; }
  /// While a network is being trained no search starts.
  void SetTraining(bool training);
  /// Asked before a search whose ensemble would take the place of the model at hand.
  std::function<bool()> may_replace_model;

 Q_SIGNALS:
  void Failed(const lamina::gui::Problem& problem);
  void Note(const QString& text);
  /// The settings are those of the trial now: train with them.
  void TrainRequested();

 private:
  QWidget* MakeResults();
  void Start();
  void ShowState();
  void Pull();
  void ShowTrial();
  void UseTrial();
  const Trial* Chosen() const;

  RunDocument& document_;
  SearchWorker worker_;
  SearchForm* form_;
  TrialsModel* trials_;
  QTableView* table_ = nullptr;
  CurvesView* curves_ = nullptr;
  QLabel* status_ = nullptr;
  ProblemLabel* problem_ = nullptr;
  QPushButton* start_;
  QPushButton* stop_;
  QPushButton* use_ = nullptr;
  QPushButton* train_ = nullptr;
  int64_t fitted_to_ = -1;  // ended trials when the columns were made as wide as their texts
  QTimer timer_;
  bool training_ = false;
};

}  // namespace lamina::gui
