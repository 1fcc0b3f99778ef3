// Which inputs a vector of neurons has weights for; copies.
#include "lamina/backend/cpu/row_storage.h"

#include <algorithm>
#include <utility>

#include "lamina/base/convert.h"

namespace lamina::cpu {

ListedWeights ListWeights(const Matrix& numbers, int64_t lanes) {
  constexpr double kMostListed = 0.25;
  const int64_t vectors = (numbers.rows() + lanes - 1) / lanes;
  const auto most = static_cast<int64_t>(kMostListed * static_cast<double>(vectors * numbers.cols()));
  ListedWeights listed;
  std::vector<double> weights;  // of the inputs listed, and of one more
  for (int64_t v = 0; v < vectors; ++v) {
    listed.begin.push_back(std::ssize(listed.inputs));
    const int64_t neurons = std::min(lanes, numbers.rows() - v * lanes);
    const Matrix of_vector = InDoubles(numbers.view().Rows(v * lanes, neurons));
    for (int64_t k = 0; k < numbers.cols(); ++k) {
      const auto at = static_cast<size_t>(std::ssize(listed.inputs) * lanes);
      weights.resize(at + static_cast<size_t>(lanes));
      bool any = false;
      for (int64_t j = 0; j < neurons; ++j) {
        const double weight = of_vector.Row<double>(j)[k];
        weights[at + static_cast<size_t>(j)] = weight;
        any = any || weight != 0;
      }
      if (any) {
        listed.inputs.push_back(static_cast<int32_t>(k));
      }
    }
    // Dense weights are known by their first vector.
    if (std::ssize(listed.inputs) > most || (v == 0 && 2 * std::ssize(listed.inputs) > numbers.cols())) {
      return {};
    }
  }
  listed.begin.push_back(std::ssize(listed.inputs));
  const int64_t count = std::ssize(listed.inputs) * lanes;
  listed.weights = AlignedBuffer(count * DTypeSize_bytes(numbers.dtype()) + kRowWeightsBehind_bytes);
  if (count > 0) {
    ConvertMatrix({weights.data(), 1, count, count, DType::kF64},
                  {listed.weights.data(), 1, count, count, numbers.dtype()});
  }
  return listed;
}

AlignedBuffer WeightsInPanels(const Matrix& numbers, const RowKernel& kernel) {
  const int64_t outputs = numbers.rows();
  const int64_t size_bytes = DTypeSize_bytes(numbers.dtype());
  const int64_t padded = (numbers.cols() + kernel.group - 1) / kernel.group * kernel.group;
  AlignedBuffer weights(padded * outputs * size_bytes + kRowWeightsBehind_bytes);
  const auto keep = [&]<class Bits>(Bits) {
    Bits* to = weights.As<Bits>().data();
    for (int64_t p = 0; p < RowPanels(outputs, kernel.lanes); ++p) {
      const auto [begin, end] = RowPanelAt(p, outputs, kernel.lanes);
      for (int64_t k = 0; k < numbers.cols(); k += kernel.group, to += (end - begin) * kernel.group) {
        const int64_t count = std::min(kernel.group, numbers.cols() - k);
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
    for (uint8_t& byte : weights.As<uint8_t>()) {
      byte ^= kernel.flip;
    }
  }
  return weights;
}

}  // namespace lamina::cpu
