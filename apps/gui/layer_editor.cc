// Editing hidden layers.
#include "layer_editor.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "problem.h"
#include "setting_field.h"

namespace lamina::gui {

namespace {

void FillSynapses(QComboBox& box, const std::string& chosen) {
  for (const std::string& name : SynapseNames()) {
    box.addItem(FromText(name));
  }
  box.setCurrentText(FromText(chosen));
  box.setAccessibleName(LayerRowEditor::tr("Synapse of this layer"));
  box.setToolTip(LayerRowEditor::tr("How inputs meet weights: dot (weighted sum), or the distances l1, l2, l2sq"));
}

void FillActivations(QComboBox& box, const std::string& chosen) {
  for (const std::string& name : ActivationNames()) {
    if (name != "softmax") {
      box.addItem(FromText(name));
    }
  }
  box.setEditable(true);
  box.setInsertPolicy(QComboBox::NoInsert);
  box.setCurrentText(FromText(chosen));
  box.setMinimumContentsLength(12);
  box.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box.setAccessibleName(LayerRowEditor::tr("Activation of this layer"));
  box.setToolTip(LayerRowEditor::tr("The curve; parameters in brackets, for example triangle(radius=12)"));
}

}  // namespace

LayerRowEditor::LayerRowEditor(const LayerRow& row, QWidget* parent)
    : QWidget(parent),
      title_(new QLabel(this)),
      neurons_(new QLineEdit(FromText(row.neurons), this)),
      synapse_(new QComboBox(this)),
      activation_(new QComboBox(this)),
      radius_(new QCheckBox(tr("radius"), this)),
      problem_(new ProblemLabel(this)),
      residual_(row.residual) {
  neurons_->setFixedWidth(fontMetrics().averageCharWidth() * 8);
  neurons_->setAccessibleName(tr("Neurons of this layer"));
  neurons_->setToolTip(tr("Neurons"));
  FillSynapses(*synapse_, row.synapse);
  FillActivations(*activation_, row.activation);
  radius_->setChecked(row.own_radius);
  radius_->setToolTip(tr("Every neuron has a radius of its own, which is trained (triangle and gaussian)"));
  const auto tool = [this](const QString& text, const QString& name, auto slot) {
    auto* button = new QToolButton(this);
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setFocusPolicy(Qt::StrongFocus);
    connect(button, &QToolButton::clicked, this, slot);
    return button;
  };
  up_ = tool(QStringLiteral("↑"), tr("Move this layer up"), [this] { Q_EMIT MoveRequested(-1); });
  down_ = tool(QStringLiteral("↓"), tr("Move this layer down"), [this] { Q_EMIT MoveRequested(1); });
  QWidget* remove = tool(QStringLiteral("×"), tr("Remove this layer"), [this] { Q_EMIT RemoveRequested(); });
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 2, 0, 2);
  grid->setHorizontalSpacing(4);
  QWidget* const cells[] = {title_, neurons_, synapse_, activation_, radius_, up_, down_, remove};
  int column = 0;
  for (QWidget* cell : cells) {
    grid->addWidget(cell, 0, column++);
  }
  grid->setColumnStretch(3, 1);
  grid->addWidget(problem_, 1, 1, 1, column - 1);
  problem_->setObjectName(QStringLiteral("problem.layer"));
  const auto changed = [this] {
    Check();
    Q_EMIT Changed();
  };
  connect(neurons_, &QLineEdit::textEdited, this, changed);
  connect(synapse_, &QComboBox::currentIndexChanged, this, changed);
  connect(activation_, &QComboBox::editTextChanged, this, changed);
  connect(radius_, &QCheckBox::toggled, this, changed);
  Check();
}

QWidget* LayerRowEditor::first() const { return neurons_; }

LayerRow LayerRowEditor::row() const {
  return {neurons_->text().trimmed().toStdString(), synapse_->currentText().toStdString(),
          activation_->currentText().trimmed().toStdString(), radius_->isChecked(), residual_};
}

void LayerRowEditor::SetNumber(int number, int count) {
  title_->setText(QString::number(number) + (residual_ > 0 ? QStringLiteral(" +") : QString()));
  title_->setToolTip(residual_ == 1  ? tr("The layer's input is added to its output")
                     : residual_ > 1 ? tr("The input of this block of %1 layers is added to its output").arg(residual_)
                                     : QString());
  title_->setAccessibleName(tr("Hidden layer %1").arg(number));
  radius_->setAccessibleName(tr("Own radius of the neurons of layer %1").arg(number));
  neurons_->setObjectName(QStringLiteral("layer%1.neurons").arg(number));
  synapse_->setObjectName(QStringLiteral("layer%1.synapse").arg(number));
  activation_->setObjectName(QStringLiteral("layer%1.activation").arg(number));
  up_->setEnabled(number > 1);
  down_->setEnabled(number < count);
}

void LayerRowEditor::Check() {
  QString text = FromText(ProblemOfRow(row()));
  if (!text.isEmpty()) {
    text[0] = text[0].toUpper();
  }
  problem_->SetProblem(text);
  radius_->setEnabled(radius_->isChecked() || TakesRadius(row()));
}

LayerEditor::LayerEditor(QWidget* parent) : QWidget(parent), layout_(new QVBoxLayout(this)) {
  layout_->setContentsMargins(0, 0, 0, 0);
  layout_->setSpacing(0);
}

std::vector<LayerRow> LayerEditor::rows() const {
  std::vector<LayerRow> rows;
  for (const LayerRowEditor* editor : editors_) {
    rows.push_back(editor->row());
  }
  return rows;
}

void LayerEditor::Set(const std::vector<LayerRow>& rows) {
  for (LayerRowEditor* editor : editors_) {
    editor->setParent(nullptr);
    editor->deleteLater();
  }
  editors_.clear();
  for (const LayerRow& row : rows) {
    Insert(row);
  }
  Number();
}

void LayerEditor::Insert(const LayerRow& row) {
  auto* editor = new LayerRowEditor(row, this);
  connect(editor, &LayerRowEditor::Changed, this, &LayerEditor::Changed);
  connect(editor, &LayerRowEditor::MoveRequested, this, [this, editor](int by) { Move(editor, by); });
  connect(editor, &LayerRowEditor::RemoveRequested, this, [this, editor] { Remove(editor); });
  layout_->addWidget(editor);
  editors_.push_back(editor);
}

void LayerEditor::Add(const LayerRow& row) {
  Insert(row);
  Number();
  editors_.back()->first()->setFocus();
  Q_EMIT Changed();
}

void LayerEditor::Move(LayerRowEditor* editor, int by) {
  const auto at = std::find(editors_.begin(), editors_.end(), editor) - editors_.begin();
  const auto to = at + by;
  if (to < 0 || to >= std::ssize(editors_)) {
    return;
  }
  std::swap(editors_[static_cast<size_t>(at)], editors_[static_cast<size_t>(to)]);
  layout_->removeWidget(editor);
  layout_->insertWidget(static_cast<int>(to), editor);
  Number();
  Q_EMIT Changed();
}

void LayerEditor::Remove(LayerRowEditor* editor) {
  std::erase(editors_, editor);
  editor->hide();
  editor->deleteLater();
  Number();
  Q_EMIT Changed();
}

void LayerEditor::Number() {
  for (size_t i = 0; i < editors_.size(); ++i) {
    editors_[i]->SetNumber(static_cast<int>(i) + 1, static_cast<int>(editors_.size()));
  }
  for (size_t i = 1; i < editors_.size(); ++i) {
    setTabOrder(editors_[i - 1], editors_[i]);
  }
}

}  // namespace lamina::gui
