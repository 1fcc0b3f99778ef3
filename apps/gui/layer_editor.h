// LayerEditor: the hidden layers as an editable list.
#pragma once

#include <QWidget>
#include <vector>

#include "layer_rows.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace lamina::gui {

class ProblemLabel;

/// One layer: neurons, synapse, activation, and buttons to move and remove it.
class LayerRowEditor : public QWidget {
  Q_OBJECT
 public:
  explicit LayerRowEditor(const LayerRow& row, QWidget* parent = nullptr);
  LayerRow row() const;
  void SetNumber(int number, int count);
  QWidget* first() const;

 Q_SIGNALS:
  void Changed();
  void MoveRequested(int by);
  void RemoveRequested();

 private:
  void Check();
  QLabel* title_;
  QLineEdit* neurons_;
  QComboBox* synapse_;
  QComboBox* activation_;
  QCheckBox* radius_;
  QWidget* up_;
  QWidget* down_;
  ProblemLabel* problem_;
  int64_t residual_;  // LayerSpec::residual, kept as it was
};

class LayerEditor : public QWidget {
  Q_OBJECT
 public:
  explicit LayerEditor(QWidget* parent = nullptr);
  void Set(const std::vector<LayerRow>& rows);
  std::vector<LayerRow> rows() const;
  void Add(const LayerRow& row);

 Q_SIGNALS:
  void Changed();

 private:
  void Insert(const LayerRow& row);
  void Move(LayerRowEditor* editor, int by);
  void Remove(LayerRowEditor* editor);
  void Number();

  QVBoxLayout* layout_;
  std::vector<LayerRowEditor*> editors_;
};

}  // namespace lamina::gui
