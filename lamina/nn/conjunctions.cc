// Makes the masks of conjunctions from the network's weights.
#include "lamina/nn/conjunctions.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

namespace lamina {
namespace {

bool IsPlainDot(const LayerSpec& layer) {
  return layer.synapse == Synapse::kDot && !layer.trained_radius && layer.residual == 0;
}

// The layer of questions: sums of inputs may come before them.
size_t FirstOf(const Network& network) { return network.layers()[0].activation == Activation() ? 1 : 0; }

bool HasForm(const Network& network) {
  const std::vector<LayerSpec>& layers = network.layers();
  const size_t first = FirstOf(network);
  return layers.size() == first + 3 && network.members() == 1 && std::ranges::all_of(layers, IsPlainDot) &&
         layers[first].activation == Activation("linsat") && layers[first + 1].activation == Activation("relu");
}

struct Weight {
  int64_t neuron;
  int64_t input;
  double value;
};

// Those that are not 0, neuron by neuron.
std::vector<Weight> WeightsOf(const Network& network, size_t layer) {
  std::vector<Weight> found;
  const ConstMatrixView weights = network.Weights(layer);
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < weights.rows; ++j) {
      const T* const row = weights.Row<T>(j);
      for (int64_t i = 0; i < weights.cols; ++i) {
        if (row[i] != 0) {
          found.push_back({j, i, static_cast<double>(row[i])});
        }
      }
    }
  });
  return found;
}

std::vector<double> BiasOf(const Network& network, size_t layer) {
  const int64_t count = network.layers()[layer].outputs;
  if (!network.layers()[layer].bias) {
    return std::vector<double>(static_cast<size_t>(count), 0.0);
  }
  return DispatchFloat(network.dtype(), [&]<class T>(T) {
    const T* const bias = static_cast<const T*>(network.Bias(layer));
    return std::vector<double>(bias, bias + count);
  });
}

}  // namespace

std::shared_ptr<const Conjunctions> Conjunctions::Of(const Network& network) {
  std::shared_ptr<Conjunctions> all(new Conjunctions);
  std::vector<int32_t> places;  // of neurons' questions
  if (!HasForm(network) || !all->TakeQuestions(network, places) || !all->TakeConditions(network, places)) {
    return nullptr;
  }
  all->TakeInputs(network);
  all->TakeSums(network);
  all->MakeMasks();
  return all;
}

// Whether each neuron asks for one input. The order in which questions to it begin to be a plain yes must be that in
// which they end to be a plain no.
bool Conjunctions::TakeQuestions(const Network& network, std::vector<int32_t>& places) {
  const size_t layer = FirstOf(network);
  const std::vector<double> bias = BiasOf(network, layer);
  for (const auto& [neuron, input, weight] : WeightsOf(network, layer)) {
    const double start = bias[static_cast<size_t>(neuron)];
    if (neuron != std::ssize(questions_) || !(weight > 0) || !std::isfinite(weight + start)) {
      return false;
    }
    questions_.push_back({input, weight, start, static_cast<int32_t>(neuron)});
  }
  if (questions_.size() != bias.size()) {
    return false;
  }
  std::sort(questions_.begin(), questions_.end(), [](const Question& a, const Question& b) {
    return std::tuple(a.input, a.YesFrom(), a.NoUpTo()) < std::tuple(b.input, b.YesFrom(), b.NoUpTo());
  });
  places.resize(questions_.size());
  double no_up_to = 0;
  for (const Question& question : questions_) {
    const int64_t place = std::ssize(yes_from_);
    places[static_cast<size_t>(question.neuron)] = static_cast<int32_t>(place);
    if (columns_.empty() || columns_.back().input != question.input) {
      columns_.push_back({question.input, place, 0, place + std::ssize(columns_)});
    } else if (question.NoUpTo() < no_up_to) {
      return false;
    }
    no_up_to = question.NoUpTo();
    ++columns_.back().count;
    yes_from_.push_back(question.YesFrom());
  }
  return true;
}

// Whether each neuron is open where all its conditions are met, and closed where one is denied plainly.
bool Conjunctions::TakeConditions(const Network& network, const std::vector<int32_t>& places) {
  const size_t layer = FirstOf(network) + 1;
  const std::vector<double> bias = BiasOf(network, layer);
  condition_begin_.resize(bias.size() + 1);
  for (const auto& [neuron, question, weight] : WeightsOf(network, layer)) {
    if (std::abs(weight) != 0.5) {
      return false;
    }
    conditions_.push_back({places[static_cast<size_t>(question)], weight > 0});
    condition_begin_[static_cast<size_t>(neuron) + 1] = std::ssize(conditions_);
  }
  for (size_t i = 0; i < bias.size(); ++i) {
    condition_begin_[i + 1] = std::max(condition_begin_[i + 1], condition_begin_[i]);
    if (bias[i] != 1 - static_cast<double>(condition_begin_[i + 1] - condition_begin_[i]) / 2) {
      return false;
    }
  }
  return true;
}

// The sums of inputs that are asked about, if there are any.
void Conjunctions::TakeInputs(const Network& network) {
  if (FirstOf(network) == 0) {
    return;
  }
  offsets_ = BiasOf(network, 0);
  part_begin_.resize(offsets_.size() + 1);
  for (const auto& [neuron, input, weight] : WeightsOf(network, 0)) {
    parts_.push_back({input, weight});
    part_begin_[static_cast<size_t>(neuron) + 1] = std::ssize(parts_);
  }
  for (size_t i = 0; i < offsets_.size(); ++i) {
    part_begin_[i + 1] = std::max(part_begin_[i + 1], part_begin_[i]);
  }
}

void Conjunctions::TakeSums(const Network& network) {
  const size_t layer = FirstOf(network) + 2;
  last_ = network.layers()[layer];
  dtype_ = network.dtype();
  inputs_ = network.inputs();
  start_ = BiasOf(network, layer);
  values_.resize(static_cast<size_t>(last_.weight_count()));
  for (const auto& [output, conjunction, weight] : WeightsOf(network, layer)) {
    values_[static_cast<size_t>(conjunction * last_.outputs + output)] = weight;
  }
}

// On each column a conjunction is open from one mask up to another. Both ends are told first, then what is between.
void Conjunctions::MakeMasks() {
  constexpr int64_t kLineBits = 512;  // of a cache line
  words_ = (count() + kLineBits - 1) / kLineBits * kLineBits / 64;
  masks_.resize(static_cast<size_t>((std::ssize(questions_) + std::ssize(columns_)) * words_));
  std::vector<const Column*> of_place;
  for (const Column& column : columns_) {
    of_place.insert(of_place.end(), static_cast<size_t>(column.count), &column);
    for (int64_t i = 0; i < count(); ++i) {
      Toggle(column.masks, i);
    }
  }
  for (int64_t i = 0; i < count(); ++i) {
    ToggleEnds(i, of_place);
  }
  for (const Column& column : columns_) {
    uint64_t* const mask = masks_.data() + column.masks * words_;
    for (int64_t w = words_; w < (column.count + 1) * words_; ++w) {
      mask[w] ^= mask[w - words_];
    }
  }
}

// Only columns that it has conditions for change. The first condition of each stands for all of them.
void Conjunctions::ToggleEnds(int64_t conjunction, const std::vector<const Column*>& of_place) {
  const std::span conditions = ConditionsOf(conjunction);
  for (size_t c = 0; c < conditions.size(); ++c) {
    const Column& column = *of_place[static_cast<size_t>(conditions[c].place)];
    int64_t first = 0;
    int64_t behind = column.count + 1;
    bool stands_for_all = true;
    for (size_t other = 0; other < conditions.size(); ++other) {
      if (of_place[static_cast<size_t>(conditions[other].place)] == &column) {
        stands_for_all = stands_for_all && other >= c;
        const int64_t yes = conditions[other].place - column.first + 1;
        first = conditions[other].yes ? std::max(first, yes) : first;
        behind = conditions[other].yes ? behind : std::min(behind, yes);
      }
    }
    if (stands_for_all) {
      Toggle(column.masks, conjunction);
      if (first < behind) {
        Toggle(column.masks + first, conjunction);
        if (behind <= column.count) {
          Toggle(column.masks + behind, conjunction);
        }
      }
    }
  }
}

}  // namespace lamina
