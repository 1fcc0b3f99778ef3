// Palettes.
#include "theme.h"

#include <QActionGroup>
#include <QApplication>
#include <QMenu>
#include <QPalette>
#include <QSettings>
#include <QStyle>
#include <algorithm>
#include <utility>

namespace lamina::gui {
namespace {

QString ThemeKey() { return QStringLiteral("theme"); }

QPalette DarkPalette() {
  QPalette palette;
  const QColor window(43, 45, 48);
  const QColor base(30, 31, 34);
  const QColor text(223, 225, 229);
  const QColor grey(130, 134, 140);
  const std::pair<QPalette::ColorRole, QColor> colours[] = {{QPalette::Window, window},
                                                            {QPalette::WindowText, text},
                                                            {QPalette::Base, base},
                                                            {QPalette::AlternateBase, QColor(37, 39, 42)},
                                                            {QPalette::ToolTipBase, window},
                                                            {QPalette::ToolTipText, text},
                                                            {QPalette::Text, text},
                                                            {QPalette::PlaceholderText, grey},
                                                            {QPalette::Button, QColor(57, 60, 65)},
                                                            {QPalette::ButtonText, text},
                                                            {QPalette::BrightText, Qt::white},
                                                            {QPalette::Link, QColor(110, 170, 240)},
                                                            {QPalette::Highlight, QColor(46, 98, 160)},
                                                            {QPalette::HighlightedText, Qt::white},
                                                            {QPalette::Light, QColor(80, 84, 90)},
                                                            {QPalette::Midlight, QColor(68, 71, 76)},
                                                            {QPalette::Mid, QColor(90, 94, 100)},
                                                            {QPalette::Dark, QColor(25, 26, 28)},
                                                            {QPalette::Shadow, Qt::black}};
  for (const auto& [role, colour] : colours) {
    palette.setColor(role, colour);
  }
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, grey);
  }
  return palette;
}

// Fusion draws what a palette says; styles of systems need not.
void UseFusion(const QPalette& palette) {
  QApplication::setStyle(QStringLiteral("fusion"));
  QApplication::setPalette(palette);
}

}  // namespace

Theme StoredTheme() {
  return static_cast<Theme>(std::clamp(QSettings().value(ThemeKey(), 0).toInt(), 0, static_cast<int>(Theme::kDark)));
}

void SetTheme(Theme theme) {
  static const QString system_style = QApplication::style()->objectName();
  static const QPalette system_palette = QApplication::palette();
  QSettings().setValue(ThemeKey(), static_cast<int>(theme));
  switch (theme) {
    case Theme::kSystem:
      QApplication::setStyle(system_style);
      QApplication::setPalette(system_palette);
      break;
    case Theme::kLight: {
      const QColor window(239, 239, 239);
      QPalette palette(window, window);
      palette.setColor(QPalette::AlternateBase, QColor(245, 246, 248));
      palette.setColor(QPalette::Highlight, QColor(48, 110, 180));
      palette.setColor(QPalette::HighlightedText, Qt::white);
      UseFusion(palette);
      break;
    }
    case Theme::kDark: UseFusion(DarkPalette()); break;
  }
}

void AddThemes(QMenu& menu) {
  auto* themes = new QActionGroup(&menu);
  const std::pair<QString, Theme> choices[] = {{QObject::tr("Colors of the system"), Theme::kSystem},
                                               {QObject::tr("Light"), Theme::kLight},
                                               {QObject::tr("Dark"), Theme::kDark}};
  for (const auto& [name, theme] : choices) {
    QAction* action = menu.addAction(name, themes, [theme = theme] { SetTheme(theme); });
    action->setCheckable(true);
    action->setChecked(theme == StoredTheme());
    themes->addAction(action);
  }
}

}  // namespace lamina::gui
