// Which fields of a form are seen.
#include "level_switch.h"

#include <QGroupBox>
#include <QHBoxLayout>
#include <QRadioButton>
#include <QSignalBlocker>
#include <algorithm>

#include "setting_field.h"

namespace lamina::gui {
namespace {

// Whether the box has something to show, as far as this is about settings.
bool HasContent(const QGroupBox& box) {
  const QList<SettingField*> fields = box.findChildren<SettingField*>();
  const QList<QWidget*> all = box.findChildren<QWidget*>();
  return fields.isEmpty() ||
         std::any_of(fields.begin(), fields.end(), [](const SettingField* field) { return !field->isHidden(); }) ||
         std::any_of(all.begin(), all.end(), [](const QWidget* each) { return each->property("settings").isValid(); });
}

}  // namespace

LevelSwitch::LevelSwitch(RunDocument& document, QWidget& form)
    : QWidget(&form),
      document_(document),
      form_(form),
      basic_(new QRadioButton(tr("Basic"), this)),
      all_(new QRadioButton(tr("All settings"), this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(basic_);
  row->addWidget(all_);
  row->addStretch();
  basic_->setObjectName(QStringLiteral("level.basic"));
  all_->setObjectName(QStringLiteral("level.all"));
  basic_->setToolTip(tr("The few settings that most people change; the others are as they are by default"));
  all_->setToolTip(tr("Every setting; none of them has to be changed"));
  connect(all_, &QRadioButton::toggled, this, [this](bool all) { document_.ShowAll(all); });
  connect(&document_, &RunDocument::LevelChanged, this, &LevelSwitch::Update);
  connect(&document_, &RunDocument::SettingsChanged, this, &LevelSwitch::Update);
  connect(&document_, &RunDocument::DataChanged, this, &LevelSwitch::Update);
  Update();
}

void LevelSwitch::Add(std::vector<QWidget*> widgets, bool basic, std::function<bool()> wanted) {
  fields_.push_back({std::move(widgets), basic, std::move(wanted)});
  Update();
}

void LevelSwitch::Update() {
  const bool all = document_.shows_all();
  {
    const QSignalBlocker blocker(all_);
    (all ? all_ : basic_)->setChecked(true);
  }
  for (SettingField* field : form_.findChildren<SettingField*>()) {
    field->ShowAtLevel(all);
  }
  for (const Field& field : fields_) {
    const bool focused = std::any_of(field.widgets.begin(), field.widgets.end(),
                                     [](const QWidget* widget) { return widget->hasFocus(); });
    for (QWidget* widget : field.widgets) {
      widget->setVisible(all || field.basic || focused || field.wanted());
    }
  }
  for (QWidget* widget : form_.findChildren<QWidget*>()) {
    if (widget->property(kForAll).toBool()) {
      widget->setVisible(all);
    }
  }
  for (QGroupBox* box : form_.findChildren<QGroupBox*>()) {
    box->setVisible(HasContent(*box));
  }
}

}  // namespace lamina::gui
