// SplitEditor: the shares of training, validation and test rows, three linked fields that always sum to 1.
#pragma once

#include <QWidget>
#include <array>

#include "run_document.h"

class QDoubleSpinBox;

namespace lamina::gui {

/// In thousandths, so that sums are exact.
using Shares = std::array<int, 3>;

/// The shares after one of them was set: training takes or gives what validation or test need; when training itself is
/// set the other two keep their proportion. Training keeps at least one thousandth.
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
};

}  // namespace lamina::gui
