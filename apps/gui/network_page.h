// NetworkPage: the layers as a list and as a picture.
#pragma once

#include <QWidget>
#include <vector>

#include "layer_rows.h"
#include "run_document.h"

class QComboBox;
class QLabel;

namespace lamina::gui {

class LayerEditor;
class NetworkPicture;
class ProblemLabel;
class SettingField;

class NetworkPage : public QWidget {
  Q_OBJECT
 public:
  explicit NetworkPage(RunDocument& document, QWidget* parent = nullptr);

 private:
  QWidget* MakeEditors();
  QWidget* MakePresets();
  QWidget* MakeSizes();
  TrainSettings Resolved(const TrainSettings& settings) const;
  void TakeRows(TrainSettings& settings) const;
  void NamePresets();
  void ChoosePreset();
  void RowsChanged();
  void ShowSettings();
  void ShowPicture();

  RunDocument& document_;
  LayerEditor* layers_ = nullptr;
  NetworkPicture* picture_ = nullptr;
  ProblemLabel* layers_problem_ = nullptr;
  QLabel* input_neurons_ = nullptr;
  QLabel* output_neurons_ = nullptr;
  QLabel* summary_ = nullptr;
  QComboBox* presets_ = nullptr;
  QLabel* about_ = nullptr;
  TrainRows rows_{.classes = true};  // of the last plan
  bool editing_ = false;             // the list changes the settings, not the other way round
};

}  // namespace lamina::gui
