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

std::shared_ptr<const SparseMatrix> WeightsOf(const Network& network, size_t layer) {
  if (auto list = network.ListedWeights(layer); list != nullptr) {
    return list;
  }
  const ConstMatrixView weights = network.Weights(layer);
  auto list = std::make_shared<SparseMatrix>();
  list->cols = weights.cols;
  for (int64_t j = 0; j < weights.rows; ++j) {
    const auto* number = static_cast<const char*>(weights.Rows(j, 1).data);
    for (int64_t i = 0; i < weights.cols; ++i, number += DTypeSize_bytes(weights.dtype)) {
      list->Add(i, ReadNumber(weights.dtype, number));
    }
    list->EndRow();
  }
  return list;
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
  const auto weights = WeightsOf(network, layer);
  for (size_t i = 0; i < bias.size(); ++i) {
    const auto asked = weights->Row(static_cast<int64_t>(i));
    if (asked.size() != 1 || !(asked[0].value > 0) || !std::isfinite(asked[0].value + bias[i])) {
      return false;
    }
    questions_.push_back({asked[0].column, asked[0].value, bias[i], static_cast<int32_t>(i)});
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
  const auto weights = WeightsOf(network, layer);
  condition_begin_ = weights->begin;
  for (const auto& [question, weight] : weights->elements) {
    if (std::abs(weight) != 0.5) {
      return false;
    }
    conditions_.push_back({places[static_cast<size_t>(question)], weight > 0});
  }
  for (size_t i = 0; i < bias.size(); ++i) {
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
  parts_ = WeightsOf(network, 0);
}

void Conjunctions::TakeSums(const Network& network) {
  const size_t layer = FirstOf(network) + 2;
  last_ = network.layers()[layer];
  dtype_ = network.dtype();
  inputs_ = network.inputs();
  start_ = BiasOf(network, layer);
  values_.resize(static_cast<size_t>(last_.weight_count()));
  const auto weights = WeightsOf(network, layer);
  for (int64_t output = 0; output < last_.outputs; ++output) {
    for (const auto& [conjunction, weight] : weights->Row(output)) {
      values_[static_cast<size_t>(conjunction * last_.outputs + output)] = weight;
    }
  }
}

// On each column a conjunction is open from one mask up to another. Both ends are told first, then what is between.
void Conjunctions::MakeMasks() {
  constexpr int64_t kLineBits = 512;  // of a cache line
  words_ = (count() + kLineBits - 1) / kLineBits * kLineBits / 64;
  masks_.resize(static_cast<size_t>((std::ssize(questions_) + std::ssize(columns_)) * words_));
  std::vector<int64_t> column_of;  // of a question's place
  for (const Column& column : columns_) {
    for (int64_t i = 0; i < column.count; ++i) {
      column_of.push_back(&column - columns_.data());
    }
    for (int64_t i = 0; i < count(); ++i) {
      Toggle(column.masks, i);
    }
  }
  for (int64_t i = 0; i < count(); ++i) {
    ToggleEnds(i, column_of);
  }
  for (const Column& column : columns_) {
    uint64_t* const mask = masks_.data() + column.masks * words_;
    for (int64_t w = words_; w < (column.count + 1) * words_; ++w) {
      mask[w] ^= mask[w - words_];
    }
  }
}

// Only columns that it has conditions for change. The first condition of each stands for all of them.
void Conjunctions::ToggleEnds(int64_t conjunction, const std::vector<int64_t>& column_of) {
  const std::span conditions = ConditionsOf(conjunction);
  for (size_t c = 0; c < conditions.size(); ++c) {
    const int64_t own = column_of[static_cast<size_t>(conditions[c].place)];
    const Column& column = columns_[static_cast<size_t>(own)];
    int64_t first = 0;
    int64_t behind = column.count + 1;
    bool stands_for_all = true;
    for (size_t other = 0; other < conditions.size(); ++other) {
      if (column_of[static_cast<size_t>(conditions[other].place)] == own) {
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
