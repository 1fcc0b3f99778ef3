// Column weights, centers and output weights as they stand in layers.
#include "lamina/rbf/kernel_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/prepared_rows.h"

namespace lamina {

std::vector<LayerSpec> KernelLayers(const KernelKind& kind, bool scaled, int64_t inputs, int64_t outputs,
                                    bool classes) {
  const std::string curve = fmt::format("laplace(power={})", kind.power);
  std::vector<LayerSpec> layers;
  if (scaled) {
    layers.push_back({inputs, inputs, Synapse::kDot, Activation(), /*bias=*/false});
  }
  layers.push_back({inputs, 1, kind.p == 1 ? Synapse::kL1 : Synapse::kL2, Activation(curve), /*bias=*/false});
  layers.push_back({1, outputs, Synapse::kDot, Activation(classes ? "softmax" : "identity"), /*bias=*/true});
  return layers;
}

Network NetworkOfMachine(const KernelMachine& machine, const PreparedRows& rows, DType dtype, bool classes,
                         double temperature) {
  const bool scaled = std::any_of(machine.feature_weights.begin(), machine.feature_weights.end(),
                                  [](double weight) { return weight != 1; });
  std::vector<LayerSpec> layers = KernelLayers(machine.kind, scaled, rows.x.cols(), rows.y.cols(), classes);
  LayerSpec& centres = layers[layers.size() - 2];
  centres.activation = centres.activation.WithRadius(machine.scale);
  centres.outputs = layers.back().inputs = rows.x.rows();
  Network network(layers, dtype);
  DispatchFloat(dtype, [&]<class T>(T) {
    const size_t last = layers.size() - 1;
    const int64_t columns = rows.x.cols();
    const std::span<const double> weights = machine.feature_weights;
    const bool matrix = std::ssize(weights) != columns;
    for (int64_t j = 0; scaled && j < columns; ++j) {
      network.Weights(0).Row<T>(j)[j] = static_cast<T>(weights[static_cast<size_t>(j)]);
      for (int64_t k = 0; matrix && k < columns; ++k) {
        network.Weights(0).Row<T>(j)[k] = static_cast<T>(weights[static_cast<size_t>(k * columns + j)]);
      }
    }
    std::vector<double> centre(static_cast<size_t>(columns));
    for (int64_t i = 0; i < rows.x.rows(); ++i) {
      WeighRow(rows.x.Row<double>(i), weights, columns, centre.data());
      for (int64_t j = 0; j < columns; ++j) {
        // As the first layer will scale a row that is asked about.
        network.Weights(last - 1).Row<T>(i)[j] =
            matrix ? static_cast<T>(centre[static_cast<size_t>(j)])
                   : static_cast<T>(weights[static_cast<size_t>(j)]) * static_cast<T>(rows.x.Row<double>(i)[j]);
      }
      for (int64_t c = 0; c < rows.y.cols(); ++c) {
        network.Weights(last).Row<T>(c)[i] = static_cast<T>(machine.alpha.Row<double>(i)[c] / temperature);
      }
    }
    for (int64_t c = 0; c < rows.y.cols(); ++c) {
      static_cast<T*>(network.Bias(last))[c] = static_cast<T>(rows.means[static_cast<size_t>(c)] / temperature);
    }
  });
  return network;
}

}  // namespace lamina
