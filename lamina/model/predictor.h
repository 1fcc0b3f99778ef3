// Single answers: a network or model that is prepared once and then asked row by row, from any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lamina/backend/cpu/row_forward.h"
#include "lamina/base/buffer.h"
#include "lamina/model/model.h"
#include "lamina/model/nearest_predictor.h"
#include "lamina/model/row_encoder.h"
#include "lamina/nn/conjunctions.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Rows that are computed together, at most.
inline constexpr int64_t kMostRowsTogether = cpu::kMostRows;

/// Room for one call at a time; a thread keeps one.
class PredictorScratch {
 public:
  PredictorScratch() = default;
  explicit PredictorScratch(int64_t size_bytes) : buffer_(size_bytes) {}
  int64_t size_bytes() const { return buffer_.size_bytes(); }
  void* data() const { return buffer_.data(); }

 private:
  AlignedBuffer buffer_;
};

/// Rows of numbers as the network takes them. Always computes on the CPU, on the calling thread, by the kernels of
/// backend cpu. No other is faster for one row, and handing it to a second thread costs more than it brings. Immutable,
/// with parameters of its own. One row waits for the memory that holds the weights. So those of inputs that are zero
/// are not read (RowLayer::Forward), and fewer bits are read sooner. Several rows read each weight once together, and
/// each has the bits that it has alone.
class Predictor {
 public:
  /// `weights`: those of products; sums and everything else stay in the network's type, f32 where weights are in few
  /// bits. In 8 bits x may be rounded to 16 (where the processor has products of bytes), and must be finite. Throws
  /// Error(kUnsupported) where a weight is not finite or too large for them, or the network has distances only.
  explicit Predictor(const Network& network, WeightStorage weights = WeightStorage::kExact);

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }
  DType dtype() const { return dtype_; }
  PredictorScratch MakeScratch() const { return PredictorScratch(scratch_bytes_); }
  int64_t scratch_bytes() const { return scratch_bytes_; }

  /// y (outputs elements of dtype()) = network(x) (inputs elements). Allocates nothing and takes no lock; `scratch` of
  /// MakeScratch() or larger, used by one call at a time.
  void Predict(const void* x, void* y, PredictorScratch& scratch) const noexcept {
    PredictRowsAt(x, 1, y, scratch.data());
  }
  /// The same of `rows` rows side by side, at most kMostRowsTogether, with scratch_bytes() of memory for each, 64-byte
  /// aligned.
  void PredictRowsAt(const void* x, int64_t rows, void* y, void* scratch) const noexcept;

 private:
  void Answer(size_t member, const void* x, int64_t rows, void* y, void* scratch) const noexcept;
  void AnswerOfMembers(const void* x, int64_t rows, void* y, void* scratch) const noexcept;

  // Trained radii stand beside a layer of identity activation.
  struct Radii {
    Activation activation;  // of radius 1
    AlignedBuffer values;
  };

  std::shared_ptr<const Conjunctions> trees_;  // in the place of layers
  std::vector<cpu::RowLayer> layers_;          // the last one is that of the first member
  std::vector<cpu::RowLayer> others_;          // the last layers of the other members
  AlignedBuffer member_scales_;                // members × inputs; empty: no members
  int64_t members_ = 1;
  std::vector<std::optional<Radii>> radii_;
  // Whether a residual block begins with a layer, and whether one ends with it.
  std::vector<bool> begins_;
  std::vector<bool> ends_;
  std::vector<int64_t> widths_;  // outputs of each layer
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  DType dtype_;
  int64_t widest_ = 0;       // elements of the widest layer's output
  int64_t layer_bytes_ = 0;  // of a row's scratch, for one layer
  int64_t skipped_at_ = 0;   // of a row's scratch, where a block's input is
  int64_t scratch_bytes_ = 0;
};

/// Raw rows, as in the training data: a model with its preprocessing of number columns.
class RowPredictor {
 public:
  /// What rows hold that are asked for.
  enum class Rows {
    kNumbers,  // as lamina_predict; Error(kUnsupported) for a model with columns of text (RowEncoder::Accepts)
    kEncoded,  // any model: only PredictEncoded() is called, or Predict() where takes_numbers()
  };
  /// Weights as the model's file keeps them. Throws Error as Predictor.
  explicit RowPredictor(const Model& model) : RowPredictor(model, model.weights) {}
  RowPredictor(const Model& model, WeightStorage weights, Rows rows = Rows::kNumbers);

  bool takes_numbers() const { return takes_numbers_; }
  DType dtype() const { return dtype_; }

  /// Numbers in a row: the input columns in the order of training, targets and dropped columns left out.
  int64_t columns() const { return columns_; }
  int64_t outputs() const { return std::ssize(targets_); }
  PredictorScratch MakeScratch() const { return PredictorScratch(scratch_bytes_); }
  int64_t scratch_bytes() const { return scratch_bytes_; }

  /// What Predict() returns where the answer is not a finite number.
  static constexpr int64_t kNotFinite = -2;
  /// out: outputs() numbers as of PredictRows() (model/evaluate.h): regression in units of the target. Returns -1;
  /// otherwise the column whose number is missing or too large, or kNotFinite, and `out` is left alone. Otherwise as
  /// Predictor::Predict.
  int64_t Predict(const double* row, double* out, PredictorScratch& scratch) const noexcept {
    return PredictRowsAt(row, 1, out, {scratch.data(), 1}).why;
  }

  /// Rows that are worth computing together: as many as need little memory.
  int64_t together() const { return std::clamp(kMostRoom_bytes / scratch_bytes_, int64_t{1}, kMostRowsTogether); }
  /// scratch_bytes() of memory for each of `rows` rows, 64-byte aligned: so many are computed together, at most
  /// kMostRowsTogether.
  struct Room {
    void* data;
    int64_t rows;
  };
  /// The first row without an answer, and what Predict() returns of it; -1 and -1: all rows have one.
  struct NoAnswer {
    int64_t row = -1;
    int64_t why = -1;
  };
  /// The same of `rows` rows side by side. All rows before the first one without an answer have theirs.
  NoAnswer PredictRowsAt(const double* row, int64_t rows, double* out, Room room) const noexcept;
  /// The same of rows that are encoded (BoundTable::EncodeInputs): elements of dtype(). All rows that have an answer
  /// get it.
  NoAnswer PredictEncoded(const void* x, int64_t rows, double* out, Room room) const noexcept;

 private:
  void Compute(const void* x, int64_t rows, void* y, void* scratch) const noexcept;
  const double* SharesOf(const void* x, int64_t rows, void* scratch) const noexcept;
  template <class T>
  int64_t Finish(const T* x, int64_t rows, T* y, double* out) const noexcept;
  template <class T>
  bool AnswerOf(const T* y, double* out) const noexcept;

  static constexpr int64_t kMostRoom_bytes = 4 << 20;

  std::vector<Predictor> predictors_;  // one a network of an ensemble; none: nearest neighbors
  std::optional<NearestPredictor> nearest_;
  std::vector<double> shares_;         // of them; empty: one network, or by gates
  std::optional<Predictor> gates_;     // Model::gates
  std::optional<RowEncoder> encoder_;  // none: a network that is not fed from raw rows
  int64_t columns_ = 0;
  bool takes_numbers_ = true;
  int64_t inputs_;  // of the network
  DType dtype_;
  int64_t scratch_bytes_ = 0;
  int64_t quantiles_ = 1;               // answers of a target, ascending
  std::vector<ColumnScaling> targets_;  // one an output; scales nothing for classes
};

}  // namespace lamina
