// The orders in which weights stand for single rows (row_task.h).
#include <algorithm>

#include "lamina/backend/cpu/row_forward.h"
#include "lamina/base/convert.h"

namespace lamina::cpu {
namespace {

// The share of weights, a vector of neurons at a time, up to which lists of those that are not 0 pay.
constexpr double kMostListed = 0.25;

}  // namespace

// Once, as vectors of layers would each have their own.
RowLayer::RowLayer(const RowLayer&) = default;
RowLayer::RowLayer(RowLayer&&) noexcept = default;
RowLayer& RowLayer::operator=(const RowLayer&) = default;
RowLayer& RowLayer::operator=(RowLayer&&) noexcept = default;
RowLayer::~RowLayer() = default;

bool RowLayer::KeepInLists(const Matrix& numbers) {
  if (layer_.synapse != Synapse::kDot || numbers.dtype() != dtype_) {
    return false;
  }
  const bool is_f64 = dtype_ == DType::kF64;
  const int64_t lanes = (is_f64 ? table_->f64 : table_->f32).lanes;
  const int64_t vectors = (layer_.outputs + lanes - 1) / lanes;
  const auto most = static_cast<int64_t>(kMostListed * static_cast<double>(vectors * layer_.inputs));
  std::vector<int32_t> listed;
  std::vector<int64_t> begin;
  std::vector<double> weights;  // lanes of each that is listed
  for (int64_t v = 0; v < vectors; ++v) {
    begin.push_back(std::ssize(listed));
    const int64_t neurons = std::min(lanes, layer_.outputs - v * lanes);
    const Matrix of_vector = InDoubles(numbers.view().Rows(v * lanes, neurons));
    for (int64_t k = 0; k < layer_.inputs; ++k) {
      const auto at = static_cast<size_t>(std::ssize(listed) * lanes);
      weights.resize(at + static_cast<size_t>(lanes));
      bool any = false;
      for (int64_t j = 0; j < neurons; ++j) {
        const double weight = of_vector.Row<double>(j)[k];
        weights[at + static_cast<size_t>(j)] = weight;
        any = any || weight != 0;
      }
      if (any) {
        listed.push_back(static_cast<int32_t>(k));
      }
    }
    // Dense weights are known by their first vector.
    if (std::ssize(listed) > most || (v == 0 && 2 * std::ssize(listed) > layer_.inputs)) {
      return false;
    }
  }
  begin.push_back(std::ssize(listed));
  const int64_t count = std::ssize(listed) * lanes;
  weights_ = AlignedBuffer(count * DTypeSize_bytes(dtype_) + kRowWeightsBehind_bytes);
  if (count > 0) {
    ConvertMatrix({weights.data(), 1, count, count, DType::kF64}, {weights_.data(), 1, count, count, dtype_});
  }
  listed_ = std::move(listed);
  list_begin_ = std::move(begin);
  lists_ = is_f64 ? table_->f64_lists : table_->f32_lists;
  return true;
}

void RowLayer::KeepInPanels(const Matrix& numbers) {
  const RowKernel& kernel = *panels_;
  const int64_t inputs = (layer_.inputs + kernel.group - 1) / kernel.group * kernel.group;
  const int64_t size_bytes = DTypeSize_bytes(numbers.dtype());
  weights_ = AlignedBuffer(inputs * layer_.outputs * size_bytes + kRowWeightsBehind_bytes);
  const auto keep = [&]<class Bits>(Bits) {
    Bits* to = weights_.As<Bits>().data();
    for (int64_t p = 0; p < RowPanels(layer_.outputs, kernel.lanes); ++p) {
      const auto [begin, end] = RowPanelAt(p, layer_.outputs, kernel.lanes);
      for (int64_t k = 0; k < layer_.inputs; k += kernel.group, to += (end - begin) * kernel.group) {
        const int64_t count = std::min(kernel.group, layer_.inputs - k);
        for (int64_t j = begin; j < end; ++j) {
          const Bits* const row = static_cast<const Bits*>(numbers.data()) + j * numbers.cols();
          std::copy_n(row + k, count, to + (j - begin) * kernel.group);
        }
      }
    }
  };
  switch (size_bytes) {
    case 1: keep(uint8_t()); break;
    case 2: keep(uint16_t()); break;
    case 4: keep(uint32_t()); break;
    default: keep(uint64_t()); break;
  }
  if (kernel.flip != 0) {
    for (uint8_t& byte : weights_.As<uint8_t>()) {
      byte ^= kernel.flip;
    }
  }
}

}  // namespace lamina::cpu
