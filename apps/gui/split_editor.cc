// Three linked shares.
#include "split_editor.h"
#include "lamina/settings/meanings.h"

#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QSignalBlocker>
#include <algorithm>
#include <cmath>

namespace lamina::gui {
namespace {

constexpr int kWhole = 1000;
constexpr const char* kNames[] = {QT_TRANSLATE_NOOP("SplitEditor", "training"),
                                  QT_TRANSLATE_NOOP("SplitEditor", "validation"),
                                  QT_TRANSLATE_NOOP("SplitEditor", "testing")};

}  // namespace

Shares LinkShares(Shares shares, int changed, int value) {
  if (changed == 0) {
    shares[0] = std::clamp(value, 1, kWhole);
    const int rest = kWhole - shares[0];
    const int others = shares[1] + shares[2];
    shares[1] = others == 0 ? rest / 2 : static_cast<int>(std::lround(static_cast<double>(rest) * shares[1] / others));
    shares[2] = rest - shares[1];
    return shares;
  }
  const int other = changed == 1 ? 2 : 1;
  const auto index = static_cast<size_t>(changed);
  shares[index] = std::clamp(value, 0, kWhole - 1);
  shares[static_cast<size_t>(other)] = std::min(shares[static_cast<size_t>(other)], kWhole - 1 - shares[index]);
  shares[0] = kWhole - shares[1] - shares[2];
  return shares;
}

SplitEditor::SplitEditor(RunDocument& document, QWidget* parent) : QWidget(parent), document_(document) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  for (int i = 0; i < 3; ++i) {
    auto* column = new QVBoxLayout;
    column->setSpacing(1);
    auto* box = new QDoubleSpinBox(this);
    box->setLocale(QLocale::c());
    box->setRange(0, 1);
    box->setDecimals(3);
    box->setSingleStep(0.05);
    box->setKeyboardTracking(false);  // half-typed numbers do not move the others
    box->setObjectName(QStringLiteral("split.%1").arg(i));
    box->setAccessibleName(tr("Share of %1 rows").arg(tr(kNames[i])));
    box->setToolTip(tr("The three shares always sum to 1: changing one moves the others."));
    connect(box, &QDoubleSpinBox::valueChanged, this, [this, i](double value) { SetShare(i, value); });
    boxes_[static_cast<size_t>(i)] = box;
    column->addWidget(box);
    auto* label = new QLabel(tr(kNames[i]), this);
    label->setAlignment(Qt::AlignHCenter);
    column->addWidget(label);
    row->addLayout(column, 1);
  }
  connect(&document_, &RunDocument::SettingsChanged, this, &SplitEditor::Show);
  connect(&document_, &RunDocument::DataChanged, this, &SplitEditor::Show);
  Show();
}

QWidget* SplitEditor::first() const { return boxes_[0]; }

// What the settings mean: without shares of their own the library's default, which depends on the files.
Shares SplitEditor::Current() const {
  Shares shares{600, 200, 200};
  Attempt([&] {
    const auto data = document_.data();
    const SplitOptions options = SplitOptionsFrom(document_.settings(), data != nullptr && data->raw.main.test,
                                                  data != nullptr && data->raw.validation);
    shares[1] = static_cast<int>(std::lround(options.validation * kWhole));
    shares[2] = static_cast<int>(std::lround(options.test * kWhole));
    shares[0] = kWhole - shares[1] - shares[2];
  });
  return shares;
}

void SplitEditor::Show() {
  const Shares shares = Current();
  for (size_t i = 0; i < 3; ++i) {
    const QSignalBlocker blocker(boxes_[i]);
    boxes_[i]->setValue(shares[i] / static_cast<double>(kWhole));
  }
}

// What one box does to the others is always worked out from what they were before, so that it can be taken back: 1 for
// training and then 0.6 again leaves the others as they were.
void SplitEditor::SetShare(int index, double value) {
  if (index != changing_ || Current() != own_) {
    before_ = Current();
    changing_ = index;
  }
  const Shares shares = LinkShares(before_, index, static_cast<int>(std::lround(value * kWhole)));
  own_ = shares;
  document_.Edit([&](TrainSettings& settings) {
    settings.split.clear();
    for (const int share : shares) {
      settings.split.push_back(share / static_cast<double>(kWhole));
    }
  });
}

}  // namespace lamina::gui
