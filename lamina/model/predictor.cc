// Rows through a network, layer by layer on one thread. Scratch of several rows is that of one so many times, part by
// part.
#include "lamina/model/predictor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "lamina/backend/elementwise_loops.h"
#include "lamina/nn/rounded_network.h"

namespace lamina {
namespace {

// Elements to whole cache lines.
int64_t PaddedBytes(int64_t elements, DType dtype) { return (elements * DTypeSize_bytes(dtype) + 63) / 64 * 64; }

StoredWeights RowsOf(const StoredWeights& stored, int64_t first, int64_t count) {
  StoredWeights rows;
  rows.numbers = Matrix(count, stored.numbers.cols(), stored.numbers.dtype());
  std::memcpy(rows.numbers.data(), stored.numbers.view().Rows(first, count).data,
              static_cast<size_t>(count * stored.numbers.cols() * DTypeSize_bytes(stored.numbers.dtype())));
  if (!stored.scales.empty()) {
    rows.scales.assign(stored.scales.begin() + first, stored.scales.begin() + first + count);
  }
  return rows;
}

}  // namespace

[[gnu::cold]] Predictor::Predictor(const Network& network, WeightStorage weights)
    : members_(network.members()), inputs_(network.inputs()), outputs_(network.outputs()), dtype_(network.dtype()) {
  RequireStorage(network, weights);
  trees_ = weights == WeightStorage::kExact ? Conjunctions::Of(network) : nullptr;
  if (trees_ != nullptr) {
    scratch_bytes_ = trees_->scratch_bytes();
    return;
  }
  radii_ = std::vector<std::optional<Radii>>(network.layers().size());
  for (size_t l = 0; l < network.layers().size(); ++l) {
    LayerSpec layer = network.layers()[l];
    if (layer.trained_radius) {
      AlignedBuffer values(layer.outputs * DTypeSize_bytes(dtype_));
      std::memcpy(values.data(), network.Radii(l), static_cast<size_t>(values.size_bytes()));
      radii_[l] = Radii{layer.activation.WithRadius(1), std::move(values)};
      layer.activation = Activation();
      layer.trained_radius = false;
    }
    const StoredWeights stored = StoreLayer(network, l, weights);
    for (int64_t block = 0; block < network.blocks(l); ++block) {
      auto* bias = static_cast<char*>(network.Bias(l));
      (block == 0 ? layers_ : others_)
          .emplace_back(layer, dtype_, RowsOf(stored, block * layer.outputs, layer.outputs),
                        bias == nullptr ? nullptr : bias + block * layer.outputs * DTypeSize_bytes(dtype_));
    }
    begins_.push_back(network.BeginsResidual(l));
    ends_.push_back(layer.residual > 0);
    widths_.push_back(layer.outputs);
    widest_ = std::max(widest_, layer.outputs);
    layer_bytes_ = std::max(layer_bytes_, layers_.back().scratch_bytes());
  }
  scratch_bytes_ = 2 * PaddedBytes(widest_, dtype_) + layer_bytes_;
  if (const MatrixView scales = network.MemberScales(); !scales.empty()) {
    member_scales_ = AlignedBuffer(scales.rows * scales.cols * DTypeSize_bytes(dtype_));
    std::memcpy(member_scales_.data(), scales.data, static_cast<size_t>(member_scales_.size_bytes()));
    scratch_bytes_ += PaddedBytes(inputs_, dtype_) + PaddedBytes(outputs_, dtype_);
  }
  skipped_at_ = scratch_bytes_;
  scratch_bytes_ += std::ranges::find(ends_, true) == ends_.end() ? 0 : PaddedBytes(widest_, dtype_);
}

void Predictor::PredictRowsAt(const void* x, int64_t rows, void* y, void* scratch) const noexcept {
  if (trees_ != nullptr) {
    trees_->Answer(x, rows, y, scratch);
  } else if (members_ > 1) {
    AnswerOfMembers(x, rows, y, scratch);
  } else {
    Answer(0, x, rows, y, scratch);
  }
}

// A member's input and answer stand behind the scratch of layers.
void Predictor::AnswerOfMembers(const void* x, int64_t rows, void* y, void* scratch) const noexcept {
  auto* const own = static_cast<char*>(scratch) + rows * (layer_bytes_ + 2 * PaddedBytes(widest_, dtype_));
  DispatchFloat(dtype_, [&]<class T>(T) {
    const T* from = static_cast<const T*>(x);
    const T* scale = static_cast<const T*>(member_scales_.data());
    T* const input = reinterpret_cast<T*>(own);
    T* const answer = reinterpret_cast<T*>(own + rows * PaddedBytes(inputs_, dtype_));
    T* const mean = static_cast<T*>(y);
    std::fill_n(mean, rows * outputs_, T(0));
    for (int64_t member = 0; member < members_; ++member, scale += inputs_) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < inputs_; ++i) {
          input[row * inputs_ + i] = from[row * inputs_ + i] * scale[i];
        }
      }
      Answer(static_cast<size_t>(member), input, rows, answer, scratch);
      for (int64_t j = 0; j < rows * outputs_; ++j) {
        mean[j] += answer[j];
      }
    }
    for (int64_t j = 0; j < rows * outputs_; ++j) {
      mean[j] /= static_cast<T>(members_);
    }
  });
}

void Predictor::Answer(size_t member, const void* x, int64_t rows, void* y, void* scratch) const noexcept {
  auto* const for_layer = static_cast<char*>(scratch);
  auto* to = for_layer + rows * layer_bytes_;
  auto* other = to + rows * PaddedBytes(widest_, dtype_);
  auto* const skipped = for_layer + rows * skipped_at_;
  for (size_t l = 0; l < layers_.size(); ++l) {
    void* const a = l + 1 == layers_.size() ? y : to;
    const int64_t width = widths_[l];
    if (begins_[l]) {  // as wide as the layer that ends the block
      const int64_t inputs = l == 0 ? inputs_ : widths_[l - 1];
      std::memcpy(skipped, x, static_cast<size_t>(rows * inputs * DTypeSize_bytes(dtype_)));
    }
    const bool own = member > 0 && l + 1 == layers_.size();
    (own ? others_[member - 1] : layers_[l]).Forward(x, rows, a, for_layer);
    const MatrixView view{a, rows, width, width, dtype_};
    if (radii_[l]) {
      DivideByRadii(HostParts(), {view, radii_[l]->values.data(), &radii_[l]->activation, {}, view});
    }
    if (ends_[l]) {
      AddElements(view, MatrixView{skipped, rows, width, width, dtype_}, view);
    }
    x = a;
    std::swap(to, other);
  }
}

[[gnu::cold]] RowPredictor::RowPredictor(const Model& model, WeightStorage weights, Rows rows)
    : shares_(model.shares),
      columns_(model.network.inputs()),
      inputs_(model.network.inputs()),
      dtype_(model.network.dtype()),
      targets_(static_cast<size_t>(model.network.outputs())) {
  if (model.nearest > 0) {
    nearest_.emplace(model.network, model.nearest);
    scratch_bytes_ = nearest_->scratch_bytes();
  }
  for (int64_t i = 0; i < model.networks() && model.nearest == 0; ++i) {
    predictors_.emplace_back(model.network_at(i), weights);
    scratch_bytes_ = std::max(scratch_bytes_, predictors_.back().scratch_bytes());
  }
  if (model.gates) {
    gates_.emplace(*model.gates);
    scratch_bytes_ = std::max(scratch_bytes_, PaddedBytes(gates_->outputs(), dtype_) + gates_->scratch_bytes());
  }
  // The inputs and the outputs in the network's type stand before the predictors' own part, sums of an ensemble behind.
  scratch_bytes_ += PaddedBytes(inputs_, dtype_) + PaddedBytes(outputs(), dtype_) +
                    (predictors_.size() <= 1 ? 0 : PaddedBytes(outputs(), DType::kF64)) +
                    (gates_ ? PaddedBytes(gates_->outputs(), DType::kF64) : 0);
  const Preprocessor& preprocessor = model.preprocessor;
  if (preprocessor.inputs().count() == 0) {
    return;
  }
  takes_numbers_ = rows == Rows::kNumbers || RowEncoder::Accepts(preprocessor).ok;
  if (takes_numbers_) {
    encoder_.emplace(preprocessor);
  }
  columns_ = std::ssize(preprocessor.inputs().columns());
  quantiles_ = preprocessor.targets().OutputsOfTarget();
  for (size_t j = 0; j < targets_.size() && preprocessor.targets().task() == Task::kRegression; ++j) {
    targets_[j] = preprocessor.targets().ScalingOf(static_cast<int64_t>(j));
  }
}

// As SharesOfGates(), at the beginning of the scratch: those of each row.
const double* RowPredictor::SharesOf(const void* x, int64_t rows, void* scratch) const noexcept {
  if (!gates_) {
    return shares_.data();
  }
  const int64_t count = gates_->outputs();
  auto* const shares = static_cast<double*>(scratch);
  auto* const outputs = static_cast<char*>(scratch) + rows * PaddedBytes(count, DType::kF64);
  gates_->PredictRowsAt(x, rows, outputs, outputs + rows * PaddedBytes(count, dtype_));
  DispatchFloat(dtype_, [&]<class T>(T) { std::copy_n(reinterpret_cast<const T*>(outputs), rows * count, shares); });
  for (double* row = shares; row < shares + rows * count; row += count) {
    const double sum = std::accumulate(row, row + count, 0.0);
    std::transform(row, row + count, row, [&](double gate) { return gate / sum; });
  }
  return shares;
}

// As SumOfShares(), or AnswersByGates() in evaluate.cc.
void RowPredictor::Compute(const void* x, int64_t rows, void* y, void* scratch) const noexcept {
  if (nearest_) {
    const int64_t size = DTypeSize_bytes(dtype_);
    for (int64_t row = 0; row < rows; ++row) {
      nearest_->PredictAt(static_cast<const char*>(x) + row * inputs_ * size,
                          static_cast<char*>(y) + row * outputs() * size, scratch);
    }
    return;
  }
  if (predictors_.size() == 1) {
    predictors_.front().PredictRowsAt(x, rows, y, scratch);
    return;
  }
  const double* const shares = SharesOf(x, rows, scratch);
  auto* const behind = static_cast<char*>(scratch) + (gates_ ? rows * PaddedBytes(gates_->outputs(), DType::kF64) : 0);
  auto* const sums = reinterpret_cast<double*>(behind);
  std::fill_n(sums, rows * outputs(), 0.0);
  DispatchFloat(dtype_, [&]<class T>(T) {
    T* const answers = static_cast<T*>(y);
    for (int64_t k = 0; k < std::ssize(predictors_); ++k) {
      const auto share = [&](int64_t row) { return shares[(gates_ ? row * gates_->outputs() : 0) + k]; };
      if (!gates_ && share(0) == 0) {
        continue;
      }
      predictors_[static_cast<size_t>(k)].PredictRowsAt(x, rows, y,
                                                        behind + rows * PaddedBytes(outputs(), DType::kF64));
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t j = row * outputs(); share(row) != 0 && j < (row + 1) * outputs(); ++j) {
          sums[j] += share(row) * static_cast<double>(answers[j]);
        }
      }
    }
    std::transform(sums, sums + rows * outputs(), answers, [](double sum) { return static_cast<T>(sum); });
  });
}

// Whether all numbers of an answer are finite; else `out` is left alone.
template <class T>
bool RowPredictor::AnswerOf(const T* y, double* out) const noexcept {
  const auto answer = [&](size_t j) { return targets_[j].Decode(static_cast<double>(y[j])); };
  bool finite = true;
  for (size_t j = 0; j < targets_.size(); ++j) {
    finite = finite && std::isfinite(answer(j));
  }
  for (size_t j = 0; j < targets_.size() && finite; ++j) {
    out[j] = answer(j);
  }
  for (size_t j = 0; finite && quantiles_ > 1 && j < targets_.size(); j += static_cast<size_t>(quantiles_)) {
    std::sort(out + j, out + j + quantiles_);
  }
  return finite;
}

// `y` is where the scratch of the predictors follows. Returns the first row without an answer, or -1.
template <class T>
int64_t RowPredictor::Finish(const T* x, int64_t rows, T* y, double* out) const noexcept {
  Compute(x, rows, y, y + rows * PaddedBytes(outputs(), DTypeOf<T>()) / static_cast<int64_t>(sizeof(T)));
  int64_t first = -1;
  for (int64_t row = rows - 1; row >= 0; --row) {
    if (!AnswerOf(y + row * outputs(), out + row * outputs())) {
      first = row;
    }
  }
  return first;
}

RowPredictor::NoAnswer RowPredictor::PredictRowsAt(const double* row, int64_t rows, double* out,
                                                   Room room) const noexcept {
  return DispatchFloat(dtype_, [&]<class T>(T) -> NoAnswer {
    T* const x = static_cast<T*>(room.data);
    for (int64_t begin = 0; begin < rows; begin += room.rows) {
      const int64_t count = std::min(room.rows, rows - begin);
      NoAnswer wrong;
      int64_t n = 0;
      for (const double* from = row + begin * columns_; n < count; ++n, from += columns_) {
        if (!encoder_) {
          std::copy_n(from, columns_, x + n * inputs_);
        } else if (const int64_t column = encoder_->Encode(from, x + n * inputs_); column >= 0) {
          wrong = {begin + n, column};
          break;
        }
      }
      T* const y = x + n * PaddedBytes(inputs_, DTypeOf<T>()) / static_cast<int64_t>(sizeof(T));
      if (const int64_t bad = n == 0 ? -1 : Finish<T>(x, n, y, out + begin * outputs()); bad >= 0) {
        return {begin + bad, kNotFinite};
      }
      if (wrong.row >= 0) {
        return wrong;
      }
    }
    return {};
  });
}

RowPredictor::NoAnswer RowPredictor::PredictEncoded(const void* x, int64_t rows, double* out,
                                                    Room room) const noexcept {
  return DispatchFloat(dtype_, [&]<class T>(T) -> NoAnswer {
    NoAnswer first;
    for (int64_t begin = 0; begin < rows; begin += room.rows) {
      const int64_t bad = Finish<T>(static_cast<const T*>(x) + begin * inputs_, std::min(room.rows, rows - begin),
                                    static_cast<T*>(room.data), out + begin * outputs());
      if (bad >= 0 && first.row < 0) {
        first = {begin + bad, kNotFinite};
      }
    }
    return first;
  });
}

}  // namespace lamina
