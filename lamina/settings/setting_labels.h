// What settings are called where people do not type their names: the window and the page.
#pragma once

#include <string>
#include <string_view>

namespace lamina {

/// "Learning &rate" of "learning-rate": '&' stands before the letter that reaches the field with Alt. The name in words
/// where no label says more.
std::string SettingLabel(std::string_view setting);
/// The same without '&'.
std::string PlainSettingLabel(std::string_view setting);

}  // namespace lamina
