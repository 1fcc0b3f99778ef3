// Which inputs are numbers and categories, and the weights of the first layers at the start.
#include "lamina/settings/embedding.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lamina/base/random.h"
#include "lamina/settings/number_embedding.h"

namespace lamina {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr uint64_t kWaveStream = 900;  // streams below belong to the layers, those above to the order of rows
constexpr uint64_t kMixtureStream = 901;

// The weight with which the largest of an input's values is a quarter of a wave.
template <class T>
double QuarterWave(const Matrix& features, int64_t input) {
  double largest = 0;
  for (int64_t i = 0; i < features.rows(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(features.Row<T>(i)[input])));
  }
  return kPi / 2 / (largest > 0 ? largest : 1);
}

}  // namespace

InputEmbedding::InputEmbedding(const ResolvedSettings& settings, const InputEncoder& inputs)
    : waves_(settings->waves),
      wave_scale_(settings->wave_scale),
      size_(settings->embedding_size),
      category_size_(*settings->category_embedding) {
  const bool of_numbers = NumberEmbeddingOf(*settings) != NumberEmbedding::kNone;
  bool any = false;
  for (const FittedColumn& column : inputs.columns()) {
    // Bins, waves of dates, codes and marks of missing values are functions of a column already.
    const bool number = of_numbers && column.kind == ColumnKind::kNumber && column.edges.empty();
    const bool category = category_size_ > 0 && column.one_hot && column.value_width() > category_size_;
    any = any || number || category;
    int64_t input = column.place;
    if (number) {
      parts_.push_back({Part::kNumber, input++});
    } else if (category) {
      parts_.push_back({Part::kCategory, input, column.value_width()});
      input += column.value_width();
    }
    for (; input < column.place + column.width(); ++input) {
      parts_.push_back({Part::kPassed, input});
    }
  }
  int64_t first = 0;
  int64_t second = 0;
  for (const Part& part : parts_) {
    first += FirstWidth(part);
    second += SecondWidth(part);
  }
  if (!any) {
    return;
  }
  layers_.push_back({inputs.count(), first, Synapse::kDot, Activation(formulas::Sine::kName)});
  if (second != first) {
    layers_.push_back({first, second, Synapse::kDot, Activation()});
  }
}

int64_t InputEmbedding::FirstWidth(const Part& part) const {
  return part.kind == Part::kNumber ? 1 + waves_ : part.kind == Part::kCategory ? category_size_ : 1;
}

int64_t InputEmbedding::SecondWidth(const Part& part) const {
  return part.kind == Part::kNumber ? 1 + size_ : FirstWidth(part);
}

void InputEmbedding::Start(const Matrix& features, uint64_t seed, Network& network) const {
  for (size_t l = 0; l < layers_.size(); ++l) {
    network.ClearLayer(l);
  }
  if (!layers_.empty()) {
    StartWaves(features, seed, network);
  }
  if (layers_.size() > 1) {
    StartMixtures(seed, network);
  }
}

void InputEmbedding::StartWaves(const Matrix& features, uint64_t seed, Network& network) const {
  Random random(seed, kWaveStream);
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    T* bias = static_cast<T*>(network.Bias(0));
    int64_t neuron = 0;
    const auto weight = [&](int64_t input) -> T& { return network.Weights(0).Row<T>(neuron)[input]; };
    for (const Part& part : parts_) {
      if (part.kind == Part::kCategory) {
        for (int64_t k = 0; k < category_size_; ++k, ++neuron) {
          for (int64_t input = part.first; input < part.first + part.inputs; ++input) {
            weight(input) = static_cast<T>(random.Uniform(-kPi / 2, kPi / 2));
          }
        }
        continue;
      }
      weight(part.first) = static_cast<T>(QuarterWave<T>(features, part.first));
      ++neuron;
      for (int64_t w = 1; w < FirstWidth(part); ++w, ++neuron) {
        weight(part.first) = static_cast<T>(2 * kPi * wave_scale_ * random.Normal());
        bias[neuron] = static_cast<T>(random.Uniform(-kPi, kPi));
      }
    }
  });
}

// Near 0 a number that is passed on is itself again.
void InputEmbedding::StartMixtures(uint64_t seed, Network& network) const {
  Random random(seed, kMixtureStream);
  const double limit = 1 / std::sqrt(static_cast<double>(waves_));
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    T* bias = static_cast<T*>(network.Bias(1));
    int64_t wave = 0;
    int64_t neuron = 0;
    for (const Part& part : parts_) {
      const bool number = part.kind == Part::kNumber;
      for (int64_t k = 0; k < (number ? 1 : FirstWidth(part)); ++k) {
        const T of_first = network.Weights(0).Row<T>(wave + k)[part.first];
        network.Weights(1).Row<T>(neuron + k)[wave + k] = number ? T(1) / of_first : T(1);
      }
      for (int64_t m = 1; number && m < SecondWidth(part); ++m) {
        for (int64_t w = 1; w < FirstWidth(part); ++w) {
          network.Weights(1).Row<T>(neuron + m)[wave + w] = static_cast<T>(random.Uniform(-limit, limit));
        }
        bias[neuron + m] = static_cast<T>(random.Uniform(-limit, limit));
      }
      wave += FirstWidth(part);
      neuron += SecondWidth(part);
    }
  });
}

}  // namespace lamina
