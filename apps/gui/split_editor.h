// SplitEditor: the shares of training, validation and test rows, three linked fields that always sum to 1.
#pragma once

#include <QWidget>
#include <array>

#include "run_document.h"

class QDoubleSpinBox;

namespace lamina::gui {

/// In thousandths, so that sums are exact.
using Shares = std::array<int, 3>;

/// The shares after one was set: training takes or gives what validation or test need, and keeps at least one
/// thousandth. When training itself is set, the others keep their proportion; half each where both were 0.
Shares LinkShares(Shares shares, int changed, int value);

class SplitEditor : public QWidget {
  Q_OBJECT
 public:
  explicit SplitEditor(RunDocument& document, QWidget* parent = nullptr);
  QWidget* first() const;

 private:
  void Show();
  void SetShare(int index, double value);
  Shares Current() const;

  RunDocument& document_;
  std::array<QDoubleSpinBox*, 3> boxes_{};
  Shares before_{};    // the shares when the box was entered that changes them now
  Shares own_{};       // as this editor set them last
  int changing_ = -1;  // that box; -1: none
};

}  // namespace lamina::gui
