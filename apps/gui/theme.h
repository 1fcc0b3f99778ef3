// Light, dark, or as the system has it.
#pragma once

class QMenu;

namespace lamina::gui {

enum class Theme { kSystem, kLight, kDark };

/// The choice of the last time; kSystem at first.
Theme StoredTheme();
/// Applies it to the application and keeps it.
void SetTheme(Theme theme);
/// One action a theme, of which one is chosen.
void AddThemes(QMenu& menu);

}  // namespace lamina::gui
