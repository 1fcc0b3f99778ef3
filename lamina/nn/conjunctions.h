// Boosted trees that are a network (boost/tree_network.h), answered without its layers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/nn/network.h"

namespace lamina {

/// A network of three dot layers: questions (linsat), each to one input; conjunctions of their answers (relu); sums of
/// these. The inputs may be sums of the network's, made by a dot-identity layer before. Nearly every answer is plain, 1
/// or -1. Which conjunctions a number of an input then leaves open is looked up, a bit each (after Lucchese et al.,
/// QuickScorer, SIGIR 2015). Where a number lies between the two sides of a question, its conjunctions are computed as
/// the network does. Immutable.
class Conjunctions {
 public:
  /// Null where the network has another form.
  static std::shared_ptr<const Conjunctions> Of(const Network& network);

  /// For Answer().
  int64_t scratch_bytes() const;
  /// y (rows × outputs) = network(x), x rows × inputs, both of the network's type; `scratch` is 64-byte aligned. Sums
  /// are in f64, in another order than the network's. An answer is NaN where an input that is asked for is. Allocates
  /// nothing.
  void Answer(const void* x, int64_t rows, void* y, void* scratch) const noexcept;

 private:
  struct Question {
    int64_t input;
    double weight;  // positive
    double bias;
    int32_t neuron;

    double YesFrom() const { return (1 - bias) / weight; }
    double NoUpTo() const { return (-1 - bias) / weight; }
  };
  struct Condition {
    int32_t place;  // of its question
    bool yes;
  };
  // An input that is asked for, and its questions: `count` places from `first` on. Mask i of its masks is for a plain
  // yes to the first i of them, and a plain no to the others. A bit says whether a conjunction is left open.
  struct Column {
    int64_t input;
    int64_t first;
    int64_t count;
    int64_t masks;
  };

  Conjunctions() = default;
  bool TakeQuestions(const Network& network, std::vector<int32_t>& places);
  bool TakeConditions(const Network& network, const std::vector<int32_t>& places);
  void TakeInputs(const Network& network);
  void TakeSums(const Network& network);
  void MakeMasks();
  void ToggleEnds(int64_t conjunction, const std::vector<int64_t>& column_of);
  void Toggle(int64_t mask, int64_t conjunction) {
    masks_[static_cast<size_t>(mask * words_ + conjunction / 64)] ^= uint64_t{1} << conjunction % 64;
  }
  int64_t count() const { return std::ssize(condition_begin_) - 1; }
  std::span<const Condition> ConditionsOf(int64_t conjunction) const {
    const int64_t* const begin = condition_begin_.data() + conjunction;
    return {conditions_.data() + begin[0], static_cast<size_t>(begin[1] - begin[0])};
  }
  int64_t numbers() const { return offsets_.empty() ? inputs_ : std::ssize(offsets_); }
  double AnswerTo(int64_t place, double number) const noexcept;
  bool FindOpen(const double* x, uint64_t* open, uint64_t* unsure) const noexcept;
  double ValueOf(int64_t conjunction, const double* x) const noexcept;
  void AddValues(int64_t word, uint64_t open, double* sums) const noexcept;
  void Sum(const double* x, double* sums, uint64_t* open) const noexcept;

  LayerSpec last_;
  DType dtype_ = DType::kF32;
  int64_t inputs_ = 0;
  int64_t words_ = 0;                          // of a mask
  std::vector<double> offsets_;                // of the sums of inputs that are asked about; empty: inputs are
  std::shared_ptr<const SparseMatrix> parts_;  // sums × inputs
  std::vector<Question> questions_;            // by their input, then by where a plain yes begins
  std::vector<double> yes_from_;               // theirs, side by side for the search
  std::vector<Column> columns_;
  std::vector<uint64_t> masks_;
  std::vector<Condition> conditions_;
  std::vector<int64_t> condition_begin_;  // of each conjunction, and the end
  std::vector<double> values_;            // conjunctions × outputs
  std::vector<double> start_;             // of the outputs
};

}  // namespace lamina
