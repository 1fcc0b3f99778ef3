// What the settings are called in the window. The inputs of the 2018 paper's window have the names they had there.
#pragma once

#include <QString>
#include <string_view>

namespace lamina::gui {

/// With the mnemonic ("&Learning rate"); the setting's name in words where the table has none.
QString LabelOf(std::string_view setting);
/// Without it.
QString PlainLabelOf(std::string_view setting);
/// "--learning-rate must be ..." as "Learning rate must be ...".
QString WithLabels(QString text);

}  // namespace lamina::gui
