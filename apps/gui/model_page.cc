// The fifth page.
#include "model_page.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabWidget>
#include <QVBoxLayout>

#include "predict_panel.h"
#include "typed_panel.h"

namespace lamina::gui {
namespace {

QHBoxLayout* AtTheLeft(QPushButton& button) {
  auto* row = new QHBoxLayout;
  row->addWidget(&button);
  row->addStretch();
  return row;
}

}  // namespace

ModelPage::ModelPage(ModelStore& store, RunDocument& document, Background& background, QWidget* parent)
    : QWidget(parent),
      store_(store),
      predict_(new PredictPanel(store, document, background)),
      description_(new QPlainTextEdit),
      save_(new QPushButton(tr("Sa&ve model …"))) {
  auto* open = new QPushButton(tr("Open &model …"));
  open->setObjectName(QStringLiteral("model.open"));
  save_->setObjectName(QStringLiteral("model.save"));
  description_->setReadOnly(true);
  description_->setTabChangesFocus(true);
  description_->setObjectName(QStringLiteral("model.description"));
  description_->setAccessibleName(tr("Description of the model"));
  auto* row = new QHBoxLayout;
  row->addWidget(open);
  row->addWidget(save_);
  row->addStretch();
  auto* left = new QVBoxLayout;
  left->addLayout(row);
  left->addWidget(description_, 1);
  auto* tabs = new QTabWidget;
  tabs->setObjectName(QStringLiteral("model.tabs"));
  tabs->addTab(predict_, tr("Predict a file"));
  tabs->addTab(new TypedPanel(store, document, background), tr("Predict typed values"));
  tabs->addTab(MakeRepeat(), tr("Repeat and export"));
  auto* layout = new QHBoxLayout(this);
  layout->addLayout(left, 2);
  layout->addWidget(tabs, 3);
  connect(open, &QPushButton::clicked, this, &ModelPage::OpenRequested);
  connect(save_, &QPushButton::clicked, this, &ModelPage::SaveRequested);
  connect(&store_, &ModelStore::Changed, this, &ModelPage::Show);
  Show();
}

QWidget* ModelPage::MakeRepeat() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  auto* label = command_title_ = new QLabel;
  label->setWordWrap(true);
  command_ = new QPlainTextEdit;
  command_->setReadOnly(true);
  command_->setTabChangesFocus(true);
  command_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  command_->setObjectName(QStringLiteral("model.command"));
  command_->setAccessibleName(tr("Command that repeats the run"));
  command_->setMaximumHeight(command_->fontMetrics().height() * 8);
  label->setBuddy(command_);
  copy_ = new QPushButton(tr("Cop&y the command"));
  history_ = new QPushButton(tr("Save the h&istory …"));
  history_->setObjectName(QStringLiteral("model.history"));
  connect(copy_, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(command_->toPlainText()); });
  connect(history_, &QPushButton::clicked, this, &ModelPage::SaveHistoryRequested);
  export_ = new QPushButton(tr("E&xport as a page, ONNX or C …"));
  export_->setObjectName(QStringLiteral("model.export"));
  connect(export_, &QPushButton::clicked, this, &ModelPage::ExportRequested);
  distill_ = new QPushButton(tr("Disti&ll …"));
  distill_->setObjectName(QStringLiteral("model.distill"));
  connect(distill_, &QPushButton::clicked, this, &ModelPage::DistillRequested);
  layout->addWidget(label);
  layout->addWidget(command_);
  layout->addLayout(AtTheLeft(*copy_));
  layout->addSpacing(12);
  layout->addWidget(new QLabel(tr("Losses, accuracies and times of every epoch, as CSV or JSON:")));
  layout->addLayout(AtTheLeft(*history_));
  layout->addSpacing(12);
  auto* onnx =
      new QLabel(tr("The model with its encoding for other people, as a page for a browser, or for other programs, as "
                    "ONNX or C source:"));
  onnx->setWordWrap(true);
  layout->addWidget(onnx);
  layout->addLayout(AtTheLeft(*export_));
  layout->addSpacing(12);
  auto* distilled = new QLabel(tr("One network that answers as the model of many does, in one network's time:"));
  distilled->setWordWrap(true);
  layout->addWidget(distilled);
  layout->addLayout(AtTheLeft(*distill_));
  layout->addStretch();
  return box;
}

void ModelPage::Show() {
  description_->setPlainText(store_.Description());
  save_->setEnabled(store_.model() != nullptr);
  export_->setEnabled(store_.model() != nullptr);
  distill_->setEnabled(store_.model() != nullptr);
  command_->setPlainText(store_.Command());
  const bool stopped = store_.history().stop_reason == "interrupted";
  command_title_->setText(stopped ? tr("This &command trains the same in a terminal, but to the end: the run here was "
                                       "stopped after epoch %1.")
                                        .arg(store_.history().epochs.size())
                                  : tr("This &command repeats the run in a terminal:"));
  copy_->setEnabled(!store_.Command().isEmpty());
  history_->setEnabled(!store_.history().epochs.empty());
}

}  // namespace lamina::gui
