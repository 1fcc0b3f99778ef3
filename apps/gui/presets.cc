// The table of presets.
#include "presets.h"

#include <QObject>
#include <QStringList>
#include <algorithm>
#include <iterator>

#include "lamina/settings/settings_text.h"
#include "layer_rows.h"
#include "problem.h"

namespace lamina::gui {
namespace {

// 2016 paper, section 5.2. Its learning rate is that of a loss without the factor 2 (lamina/neuron/loss.h).
void Net2016(TrainSettings& s, std::vector<int64_t> hidden) {
  s.hidden = std::move(hidden);
  s.activation = "sigmoid";
  s.output_activation = "sigmoid";
  s.loss = "mse";
  s.optimizer = "sgd";
  s.learning_rate = 0.05;
}

// 2018 paper: bipolar sigmoid with gain and threshold, momentum, regularization, a linear output for the prediction.
void Net2018(TrainSettings& s) {
  s.hidden = {10};
  s.activation = "bipolar_sigmoid";
  s.gain = 1;
  s.threshold = 0;
  s.loss = "mse";
  s.optimizer = "sgd";
  s.learning_rate = 0.01;
  s.momentum = 0.9;
  s.weight_decay = 0.0001;
  s.epochs = 40;
}

constexpr Preset kPresets[] = {
    {"lamina", "What lamina takes for such data: a good start for most", [](TrainSettings&) {}, true},
    {"lamina, small and quick", "A small network that trains in a moment, by Adam: recipe plain",
     [](TrainSettings& s) { s.recipe = "plain"; }, true},
    {"2016 paper: Net-1h", "One hidden layer of 1024 sigmoid neurons, squared error, plain gradient descent",
     [](TrainSettings& s) { Net2016(s, {1024}); }},
    {"2016 paper: Net-2h", "Two hidden layers of 1024 sigmoid neurons, squared error, plain gradient descent",
     [](TrainSettings& s) {
       Net2016(s, {1024, 1024});
     }},
    {"2017 paper: RBF layer", "256 neurons of L1 distance and triangle activation (eqs. 1 and 2), trained by Adam",
     [](TrainSettings& s) { s.layers = "l1-triangle:256,auto"; }},
    {"2017 paper: MUL layer", "256 neurons of weighted sum and tanh (eq. 3), trained by Adam",
     [](TrainSettings& s) {
       s.hidden = {256};
       s.activation = "tanh";
     }},
    {"2018 paper: ANN", "10 neurons with the bipolar sigmoid, gain and threshold, momentum and regularization",
     Net2018}};

// The settings that say the layers.
constexpr const char* kOfLayers[] = {"recipe", "hidden",    "activation", "layers",
                                     "gain",   "threshold", "loss",       "output-activation"};

// "3 × 256 selu", "1,024 sigmoid, 10 tanh".
QString LayersInWords(const std::vector<LayerRow>& rows) {
  QStringList parts;
  for (auto row = rows.begin(); row != rows.end();) {
    const auto next = std::find_if(row, rows.end(), [&](const LayerRow& each) { return each != *row; });
    const QString one = FromText(row->neurons) + QLatin1Char(' ') + FromText(row->activation);
    parts << (next - row > 1 ? QObject::tr("%1 × %2").arg(next - row).arg(one) : one);
    row = next;
  }
  return parts.isEmpty() ? QObject::tr("no hidden layer") : parts.join(QStringLiteral(", "));
}

}  // namespace

std::span<const Preset> Presets() { return kPresets; }

void ApplyPreset(const Preset& preset, TrainSettings& settings) {
  ResetSettings(settings, [](const auto& row) {
    return (row.group == kNetworkGroup || row.group == kTrainingGroup) && row.name != "seed";
  });
  preset.apply(settings);
}

bool HasLayersOf(const Preset& preset, const TrainSettings& settings) {
  TrainSettings applied = settings;
  ApplyPreset(preset, applied);
  return std::all_of(std::begin(kOfLayers), std::end(kOfLayers),
                     [&](const char* name) { return SettingText(applied, name) == SettingText(settings, name); });
}

QString NameOfPreset(const Preset& preset, const TrainSettings& resolved) {
  const QString name = QObject::tr(preset.name);
  return preset.by_recipe ? QObject::tr("%1: %2").arg(name, LayersInWords(RowsFromSettings(resolved))) : name;
}

}  // namespace lamina::gui
