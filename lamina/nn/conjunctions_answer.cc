// Rows by the masks of their numbers: what the predict library compiles for speed, and conjunctions.cc for size.
#include <algorithm>
#include <bit>
#include <cmath>

#include "lamina/base/nan.h"
#include "lamina/nn/conjunctions.h"

namespace lamina {

// The numbers of a row, its sums, and two masks.
int64_t Conjunctions::scratch_bytes() const {
  const int64_t bytes = (numbers() + last_.outputs + 2 * words_) * static_cast<int64_t>(sizeof(double));
  return (bytes + 63) / 64 * 64;
}

// The answer of the question at a place, -1 to 1, rounded as the network's.
double Conjunctions::AnswerTo(int64_t place, double number) const noexcept {
  const Question& asked = questions_[static_cast<size_t>(place)];
  const double product = number * asked.weight;
  const double sum = dtype_ == DType::kF64
                         ? product + asked.bias
                         : static_cast<double>(static_cast<float>(product) + static_cast<float>(asked.bias));
  return std::clamp(sum, -1.0, 1.0);
}

// Leaves in `open` the conjunctions that no plain answer denies. Returns whether there are answers that are not plain;
// `unsure` then has the conjunctions that ask for them.
bool Conjunctions::FindOpen(const double* x, uint64_t* open, uint64_t* unsure) const noexcept {
  std::fill_n(open, words_, ~uint64_t{0});
  bool any_unsure = false;
  for (const Column& column : columns_) {
    const double number = x[column.input];
    const double* const first = yes_from_.data() + column.first;
    int64_t yes = std::upper_bound(first, first + column.count, number) - first;
    while (yes > 0 && AnswerTo(column.first + yes - 1, number) < 1) {  // but for rounding
      --yes;
    }
    const uint64_t* mask = masks_.data() + (column.masks + yes) * words_;
    int64_t end = yes;
    while (end < column.count && AnswerTo(column.first + end, number) > -1) {
      ++end;
    }
    if (end == yes) {
      for (int64_t w = 0; w < words_; ++w) {
        open[w] &= mask[w];
      }
      continue;
    }
    if (!any_unsure) {
      std::fill_n(unsure, words_, uint64_t{0});
    }
    any_unsure = true;
    // The masks before and behind a question differ in the conjunctions that ask it.
    for (int64_t w = 0; w < words_; ++w) {
      uint64_t left = mask[w];
      for (int64_t i = w; i < w + (end - yes) * words_; i += words_) {
        unsure[w] |= mask[i] ^ mask[i + words_];
        left |= mask[i + words_];
      }
      open[w] &= left;
    }
  }
  return any_unsure;
}

double Conjunctions::ValueOf(int64_t conjunction, const double* x) const noexcept {
  double value = 1;
  for (const Condition& condition : ConditionsOf(conjunction)) {
    const double answer = AnswerTo(condition.place, x[questions_[static_cast<size_t>(condition.place)].input]);
    value -= (condition.yes ? 1 - answer : 1 + answer) / 2;
  }
  return std::max(value, 0.0);
}

// Those of a word that are open. Each word has sums of its own first, so that none waits for the one before.
void Conjunctions::AddValues(int64_t word, uint64_t open, double* sums) const noexcept {
  const int64_t outputs = last_.outputs;
  const double* const values = values_.data() + word * 64 * outputs;
  for (int64_t k = 0; k < outputs; ++k) {
    double sum = 0;
    for (uint64_t left = open; left != 0; left &= left - 1) {
      sum += values[std::countr_zero(left) * outputs + k];
    }
    sums[k] += sum;
  }
}

// Two masks of room at `open`.
void Conjunctions::Sum(const double* x, double* sums, uint64_t* open) const noexcept {
  uint64_t* const unsure = open + words_;
  const bool any_unsure = FindOpen(x, open, unsure);
  std::ranges::copy(start_, sums);
  for (int64_t w = 0; w < words_; ++w) {
    if (!any_unsure) {
      AddValues(w, open[w], sums);
      continue;
    }
    AddValues(w, open[w] & ~unsure[w], sums);
    for (uint64_t left = open[w] & unsure[w]; left != 0; left &= left - 1) {
      const int64_t conjunction = w * 64 + std::countr_zero(left);
      const double value = ValueOf(conjunction, x);
      const double* const values = values_.data() + conjunction * last_.outputs;
      std::transform(values, values + last_.outputs, sums, sums,
                     [&](double of_it, double sum) { return sum + value * of_it; });
    }
  }
}

void Conjunctions::Answer(const void* x, int64_t rows, void* y, void* scratch) const noexcept {
  auto* const open = static_cast<uint64_t*>(scratch);
  auto* const asked = reinterpret_cast<double*>(open + 2 * words_);
  double* const sums = asked + numbers();
  DispatchFloat(dtype_, [&]<class T>(T) {
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    for (int64_t row = 0; row < rows; ++row, from += inputs_, to += last_.outputs) {
      if (offsets_.empty()) {
        std::copy_n(from, inputs_, asked);
      }
      for (size_t i = 0; i < offsets_.size(); ++i) {
        double sum = offsets_[i];
        for (const auto& [input, weight] : parts_->Row(static_cast<int64_t>(i))) {
          sum += static_cast<double>(from[input]) * weight;
        }
        asked[i] = static_cast<double>(static_cast<T>(sum));
      }
      if (std::ranges::any_of(columns_, [&](const Column& column) { return std::isnan(asked[column.input]); })) {
        std::fill_n(sums, last_.outputs, kNaN);
      } else {
        Sum(asked, sums, open);
      }
      std::transform(sums, sums + last_.outputs, to, [](double sum) { return static_cast<T>(sum); });
      last_.activation.Value(to, to, last_.outputs);
    }
  });
}

}  // namespace lamina
