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
#include "lamina/settings/method.h"
#include "lamina/settings/recipe.h"
#include "layer_editor.h"
#include "level_switch.h"
#include "network_picture.h"
#include "number_text.h"
#include "presets.h"
#include "setting_field.h"

namespace lamina::gui {
namespace {

QString NeuronOf(const LayerSpec& layer) {
  return FromText(SynapseName(layer.synapse)) + QStringLiteral(" · ") + FromText(layer.activation.Text()) +
         (layer.trained_radius ? QStringLiteral(", own radius") : QString()) +
         (layer.residual > 0 ? QStringLiteral(", plus its input") : QString());
}

QString SummaryOf(const RunPreview& plan) {
  const bool kernels = plan.method == NameOf(Method::kKernelMachine, kMethods);
  const QString text =
      kernels ? QObject::tr("Method %1; loss %2").arg(FromText(plan.method), FromText(plan.network.output.loss.Text()))
              : QObject::tr("%1; loss %2; recipe %3")
                    .arg(CountText(plan.network.parameter_count(), QObject::tr("trainable parameter"),
                                   QObject::tr("trainable parameters")),
                         FromText(plan.network.output.loss.Text()), FromText(plan.recipe));
  return plan.recipe_remark.empty() ? text : text + QStringLiteral(" (") + plan.RemarkOnRecipe() + QLatin1Char(')');
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
  connect(&document_, &RunDocument::SettingsChanged, this, [this] {
    ShowSettings();
    ChoosePreset();
  });
  connect(&document_, &RunDocument::PlanChanged, this, [this] {
    if (const auto plan = document_.plan(); plan != nullptr) {
      rows_ = plan->RunPlan::rows();
    }
    ShowSettings();  // what a recipe has may go by target and rows
    ShowPicture();
  });
  ShowSettings();
  ChoosePreset();
  ShowPicture();
}

QWidget* NetworkPage::MakePresets() {
  auto* box = new QGroupBox(tr("Preset"));
  auto* layout = new QVBoxLayout(box);
  presets_ = new QComboBox;
  presets_->setObjectName(QStringLiteral("presets"));
  presets_->setAccessibleName(tr("Preset"));
  presets_->setPlaceholderText(tr("none: layers of your own"));
  presets_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  presets_->setMinimumContentsLength(20);
  for (const Preset& preset : Presets()) {
    presets_->addItem(tr(preset.name));
    presets_->setItemData(presets_->count() - 1, tr(preset.about), Qt::ToolTipRole);
  }
  auto* use = new QPushButton(tr("Use this p&reset"));
  use->setObjectName(QStringLiteral("presets.use"));
  about_ = new QLabel(tr(Presets()[0].about));
  about_->setWordWrap(true);
  auto* row = new QHBoxLayout;
  row->addWidget(presets_, 1);
  row->addWidget(use);
  layout->addLayout(row);
  layout->addWidget(about_);
  connect(presets_, &QComboBox::currentIndexChanged, this, [this, use](int index) {
    use->setEnabled(index >= 0);
    about_->setText(index < 0 ? QString() : tr(Presets()[static_cast<size_t>(index)].about));
  });
  connect(use, &QPushButton::clicked, this, [this] {
    const Preset& preset = Presets()[static_cast<size_t>(presets_->currentIndex())];
    document_.Edit([&](TrainSettings& settings) { ApplyPreset(preset, settings); });
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
        "waves", "wave-scale", "embedding-size", "category-embedding", "front-scale", "residual", "members", "bias"}) {
    AddField(*grid, document_, name);
  }
  layout->addWidget(neuron);
  layout->addWidget(MakeResetButton(document_, *this), 0, Qt::AlignLeft);
  layout->addStretch();
  layout->insertWidget(0, new LevelSwitch(document_, *box));
  return box;
}

// The settings as a run would complete them.
TrainSettings NetworkPage::Resolved(const TrainSettings& settings) const {
  TrainSettings resolved = settings;
  Attempt([&] {
    const auto data = document_.data();
    resolved.recipe = RecipeFor(settings, data != nullptr && data->raw.main.train.is_image);
    const bool classes = settings.task == kAutoText ? rows_.classes : settings.task == "classification";
    resolved = *Resolve(resolved, classes, rows_.train);
  });
  return resolved;
}

// The layers of the list; what the recipe takes anyway is left to it.
void NetworkPage::TakeRows(TrainSettings& settings) const {
  const TrainSettings before = settings;
  TrainSettings open = settings;
  open.layers.clear();
  open.hidden.clear();
  open.activation = kAutoText;
  const TrainSettings own = Resolved(open);
  RowsToSettings(layers_->rows(), settings);
  if (settings.layers.empty() && settings.hidden == own.hidden && settings.hidden != before.hidden) {
    settings.hidden.clear();
  }
  if (settings.layers.empty() && settings.activation == own.activation && settings.activation != before.activation) {
    settings.activation = kAutoText;
  }
}

void NetworkPage::RowsChanged() {
  editing_ = true;
  document_.Edit([this](TrainSettings& settings) { TakeRows(settings); }, "layers");
  editing_ = false;
  ShowSettings();
}

void NetworkPage::NamePresets() {
  for (int i = 0; i < presets_->count(); ++i) {
    const Preset& preset = Presets()[static_cast<size_t>(i)];
    TrainSettings applied = document_.settings();
    ApplyPreset(preset, applied);
    presets_->setItemText(i, NameOfPreset(preset, Resolved(applied)));
  }
}

// The one whose layers these are. Not while the user looks for another.
void NetworkPage::ChoosePreset() {
  const auto presets = Presets();
  const auto same = std::find_if(presets.begin(), presets.end(),
                                 [this](const Preset& preset) { return HasLayersOf(preset, document_.settings()); });
  presets_->setCurrentIndex(same == presets.end() ? -1 : static_cast<int>(same - presets.begin()));
}

void NetworkPage::ShowSettings() {
  const TrainSettings& settings = document_.settings();
  if (!editing_) {
    const std::vector<LayerRow> rows = RowsFromSettings(Resolved(settings));
    TrainSettings shown = settings;
    TakeRows(shown);
    const bool same =
        shown.layers == settings.layers && shown.hidden == settings.hidden && shown.activation == settings.activation;
    if (!same && rows != layers_->rows()) {
      layers_->Set(rows);
    }
  }
  NamePresets();
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
  const size_t planned = plan ? plan->network.layers.size() - 1 : rows.size();
  const size_t before = planned > rows.size() ? planned - rows.size() : 0;  // embeddings stand before the hidden ones
  for (size_t i = 0; i < planned; ++i) {
    const QString name = i < before ? tr("embedding") : tr("hidden %1").arg(i + 1 - before);
    if (plan) {
      const LayerSpec& layer = plan->network.layers[i];
      views.push_back({name, number(layer.outputs), NeuronOf(layer), layer.outputs});
    } else {
      const int64_t count = ParseInteger(rows[i].neurons).value_or(0);
      views.push_back({name, count > 0 ? number(count) : unknown,
                       FromText(rows[i].synapse) + QStringLiteral(" · ") + FromText(rows[i].activation), count});
    }
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
  summary_->setText(plan ? SummaryOf(*plan) : document_.StartBlocker());
  picture_->Set(std::move(views));
}

}  // namespace lamina::gui
