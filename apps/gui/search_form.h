// SearchForm: what a search tries, and how.
#pragma once

#include <QWidget>
#include <vector>

#include "lamina/search/search_settings.h"
#include "setting_field.h"

class QComboBox;
class QLineEdit;
class QVBoxLayout;

namespace lamina::gui {

class LevelSwitch;

class SearchForm : public QWidget {
  Q_OBJECT
 public:
  explicit SearchForm(RunDocument& document, QWidget* parent = nullptr);

  /// What the form says, for these settings of training.
  SearchSettings SettingsFor(const TrainSettings& train) const;
  /// Another setting to try, with its values.
  void Add(const QString& name, const QString& values);

 Q_SIGNALS:
  void Changed();

 private:
  struct Tried {
    QWidget* row;
    QComboBox* name;
    QLineEdit* values;
  };
  QWidget* MakeTried();
  QWidget* MakeHow();
  void Remove(const QWidget* row);

  LevelSwitch* level_;
  SearchSettings settings_;
  std::vector<Tried> tried_;
  QVBoxLayout* rows_ = nullptr;
};

}  // namespace lamina::gui
