// LevelSwitch: "Basic" or "All settings" over a form. Basic shows the few that most people set, and whatever is not as
// it is by default, is wrong, or is being typed.
#pragma once

#include <QWidget>
#include <functional>
#include <vector>

#include "run_document.h"

class QRadioButton;

namespace lamina::gui {

class LevelSwitch : public QWidget {
  Q_OBJECT
 public:
  /// The switch of the window, over the fields that `form` has by then and will have: its SettingFields, and what is
  /// added here. Widgets with the property kForAll are for all settings alone.
  LevelSwitch(RunDocument& document, QWidget& form);

  static constexpr const char* kForAll = "all_settings";

  /// A setting that is no SettingField: its widgets, and whether it is to be seen although it is not basic.
  void Add(std::vector<QWidget*> widgets, bool basic, std::function<bool()> wanted);
  void Update();

 private:
  struct Field {
    std::vector<QWidget*> widgets;
    bool basic;
    std::function<bool()> wanted;
  };

  RunDocument& document_;
  QWidget& form_;
  QRadioButton* basic_;
  QRadioButton* all_;
  std::vector<Field> fields_;
};

}  // namespace lamina::gui
