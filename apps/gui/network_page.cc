// The second page.
#include "network_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QGroupBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "form_scroll.h"
#include "labels.h"
#include "lamina/base/text.h"
#include "lamina/train/recipe.h"
#include "layer_editor.h"
#include "network_picture.h"
#include "presets.h"
#include "setting_field.h"

namespace lamina::gui {
namespace {

QString NeuronOf(const LayerSpec& layer) {
  return FromText(SynapseName(layer.synapse)) + QStringLiteral(" · ") + FromText(layer.activation.Text()) +
         (layer.trained_radius ? QStringLiteral(", own radius") : QString());
}

}  // namespace

NetworkPage::NetworkPage(RunDocument& document, QWidget* parent) : QWidget(parent), document_(document) {
  auto* layout = new QHBoxLayout(this);
  layout->addWidget(new FormScroll(MakeEditors()));
  auto* right = new QVBoxLayout;
  picture_ = new NetworkPicture;
  summary_ = new QLabel;
  summary_->setObjectName(QStringLiteral("network.summary"));
  summary_->setWordWrap(true);
  right->addWidget(picture_, 1);
  right->addWidget(summary_);
  layout->addLayout(right, 1);
  connect(layers_, &LayerEditor::Changed, this, &NetworkPage::RowsChanged);
  connect(&document_, &RunDocument::SettingsChanged, this, &NetworkPage::ShowSettings);
  connect(&document_, &RunDocument::PlanChanged, this, &NetworkPage::ShowPicture);
  ShowSettings();
  ShowPicture();
}

QWidget* NetworkPage::MakePresets() {
  auto* box = new QGroupBox(tr("Preset"));
  auto* layout = new QVBoxLayout(box);
  auto* list = new QComboBox;
  list->setObjectName(QStringLiteral("presets"));
  list->setAccessibleName(tr("Preset"));
  for (const Preset& preset : Presets()) {
    list->addItem(tr(preset.name));
    list->setItemData(list->count() - 1, tr(preset.about), Qt::ToolTipRole);
  }
  auto* use = new QPushButton(tr("Use this p&reset"));
  use->setObjectName(QStringLiteral("presets.use"));
  auto* about = new QLabel(tr(Presets()[0].about));
  about->setWordWrap(true);
  auto* row = new QHBoxLayout;
  row->addWidget(list, 1);
  row->addWidget(use);
  layout->addLayout(row);
  layout->addWidget(about);
  connect(list, &QComboBox::currentIndexChanged, this,
          [about](int index) { about->setText(tr(Presets()[static_cast<size_t>(index)].about)); });
  connect(use, &QPushButton::clicked, this, [this, list] {
    document_.Edit(
        [&](TrainSettings& settings) { ApplyPreset(Presets()[static_cast<size_t>(list->currentIndex())], settings); });
  });
  return box;
}

QWidget* NetworkPage::MakeSizes() {
  auto* box = new QGroupBox(tr("Layers"));
  auto* layout = new QVBoxLayout(box);
  input_neurons_ = new QLabel;
  output_neurons_ = new QLabel;
  layers_ = new LayerEditor;
  layers_->setProperty("settings",
                       QStringList{QStringLiteral("layers"), QStringLiteral("hidden"), QStringLiteral("activation")});
  layers_problem_ = new ProblemLabel;
  layers_problem_->setObjectName(QStringLiteral("problem.layers"));
  auto* add = new QPushButton(tr("&Add a layer"));
  add->setObjectName(QStringLiteral("layers.add"));
  connect(add, &QPushButton::clicked, this, [this] {
    const std::vector<LayerRow> rows = layers_->rows();
    layers_->Add(rows.empty() ? LayerRow{} : rows.back());
  });
  layout->addWidget(input_neurons_);
  layout->addWidget(layers_);
  layout->addWidget(layers_problem_);
  layout->addWidget(add, 0, Qt::AlignLeft);
  layout->addWidget(output_neurons_);
  return box;
}

QWidget* NetworkPage::MakeEditors() {
  auto* box = new QWidget;
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 4, 0);
  layout->addWidget(MakePresets());
  layout->addWidget(MakeSizes());
  auto* neuron = new QGroupBox(tr("Neurons"));
  auto* grid = new QGridLayout(neuron);
  for (const char* name :
       {"recipe", "output-activation", "gain", "threshold", "init", "zero-last", "parametrization", "number-embedding",
        "waves", "wave-scale", "embedding-size", "category-embedding", "front-scale", "members", "bias"}) {
    AddField(*grid, document_, name);
  }
  layout->addWidget(neuron);
  layout->addWidget(MakeResetButton(document_, *this), 0, Qt::AlignLeft);
  layout->addStretch();
  return box;
}

// The settings with the recipe that they mean: what else the table's layers were shown with stays when one is changed.
TrainSettings NetworkPage::WithOwnRecipe(TrainSettings settings) const {
  const auto plan = document_.plan();
  settings.recipe = RecipeFor(settings, plan != nullptr && plan->data.preprocessor.inputs().is_image());
  return settings;
}

void NetworkPage::RowsChanged() {
  editing_ = true;
  document_.Edit(
      [this](TrainSettings& settings) {
        settings = WithOwnRecipe(settings);
        RowsToSettings(layers_->rows(), settings);
      },
      "layers");
  editing_ = false;
  ShowSettings();
}

void NetworkPage::ShowSettings() {
  const TrainSettings settings = WithOwnRecipe(document_.settings());
  if (!editing_) {
    const std::vector<LayerRow> rows = RowsFromSettings(settings);
    TrainSettings shown = settings;
    RowsToSettings(layers_->rows(), shown);
    const bool same =
        shown.layers == settings.layers && shown.hidden == settings.hidden && shown.activation == settings.activation;
    if (!same && rows != layers_->rows()) {
      layers_->Set(rows);
    }
  }
  const QString hidden = document_.ProblemOf("hidden");
  const QString layers = document_.ProblemOf("layers");
  const QString activation = document_.ProblemOf("activation");
  const std::vector<LayerRow> rows = layers_->rows();
  const bool said =
      std::any_of(rows.begin(), rows.end(), [](const LayerRow& row) { return !ProblemOfRow(row).empty(); });
  layers_problem_->SetProblem(said ? QString() : !hidden.isEmpty() ? hidden : !layers.isEmpty() ? layers : activation);
}

void NetworkPage::ShowPicture() {
  std::vector<LayerView> views;
  const auto plan = document_.plan();
  const QString unknown = tr("?");
  const auto number = [](int64_t count) { return FromText(WithThousands(count)); };
  views.push_back({tr("input"), plan ? number(plan->data.preprocessor.inputs().count()) : unknown, QString(),
                   plan ? plan->data.preprocessor.inputs().count() : 5});
  const std::vector<LayerRow> rows = layers_->rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t count = ParseInteger(rows[i].neurons).value_or(0);
    const QString neuron = plan && i < plan->network.layers.size()
                               ? NeuronOf(plan->network.layers[i])
                               : FromText(rows[i].synapse) + QStringLiteral(" · ") + FromText(rows[i].activation);
    views.push_back({tr("hidden %1").arg(i + 1), count > 0 ? number(count) : unknown, neuron, count});
  }
  views.push_back({tr("output"), plan ? number(plan->network.layers.back().outputs) : unknown,
                   plan ? NeuronOf(plan->network.layers.back()) : FromText(document_.settings().output_activation),
                   plan ? plan->network.layers.back().outputs : 2});
  const auto neurons = [](const LayerView& view) {
    return view.neurons == QStringLiteral("1") ? tr("1 neuron") : tr("%1 neurons").arg(view.neurons);
  };
  input_neurons_->setText(plan
                              ? tr("Input: %1, one for each number that the columns become").arg(neurons(views.front()))
                              : tr("Input: as the data needs"));
  output_neurons_->setText(plan ? tr("Output: %1, as the target needs").arg(neurons(views.back()))
                                : tr("Output: as the target needs"));
  summary_->setText(plan ? tr("%1 trainable parameters; loss %2")
                               .arg(number(plan->network.parameter_count()), FromText(plan->network.output.loss.Text()))
                         : document_.StartBlocker());
  picture_->Set(std::move(views));
}

}  // namespace lamina::gui
