// Which kernel takes a layer's single rows, and the weights in its order.
#include "lamina/backend/cpu/row_forward.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/base/convert.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kVector_bytes = 64;                 // of the widest vectors
constexpr int64_t kBehind_bytes = 2 * kVector_bytes;  // kernels read as much beyond an array
// The share of groups up to which a list of them pays: making it costs about 1 % of reading all.
constexpr double kMostGroups = 0.9;

struct RowChoice {
  const RowKernel* panels;
  void (*neurons)(const RowTask&) noexcept;
};

// The kernels of weights of a type; `neurons` null: ForwardDots.
RowChoice ChoiceFor(const RowTable& table, const LayerSpec& layer, DType stored) {
  if (IsDistance(layer.synapse)) {  // of exact weights
    const size_t kind = layer.synapse == Synapse::kL1 ? 0 : layer.synapse == Synapse::kL2 ? 1 : 2;
    return {stored == DType::kF64 ? &table.distances_f64[kind] : &table.distances_f32[kind], nullptr};
  }
  switch (stored) {
    case DType::kF64: return {&table.f64, nullptr};
    case DType::kF32: return {&table.f32, nullptr};
    case DType::kBF16: return {&table.bf16, table.bf16_neurons};
    case DType::kF16: return {&table.f16, table.f16_neurons};
    default: break;
  }
  const bool products = table.i8_products.panels != nullptr && ApplyInstructionSets().used.byte_products &&
                        layer.inputs <= kMostByteInputs;
  return {products ? &table.i8_products : &table.i8, table.i8_neurons};
}

AlignedBuffer CopyOf(const void* data, int64_t size_bytes) {
  AlignedBuffer copy(size_bytes + kBehind_bytes);
  std::memcpy(copy.data(), data, static_cast<size_t>(size_bytes));
  return copy;
}

}  // namespace

RowLayer::RowLayer(const LayerSpec& layer, DType dtype, const StoredWeights& weights, const void* bias)
    : layer_(layer), dtype_(dtype), narrow_sums_(dtype == DType::kF64 && weights.numbers.dtype() != dtype) {
  ApplyInstructionSets();
  table_ = &RowKernels();
  kernels_ = {&Kernels<float>(), &Kernels<double>()};
  if (bias != nullptr) {
    bias_ = CopyOf(bias, layer.outputs * DTypeSize_bytes(dtype));
  }
  if (!weights.scales.empty()) {
    scales_ = CopyOf(weights.scales.data(), std::ssize(weights.scales) * static_cast<int64_t>(sizeof(float)));
  }
  const RowChoice choice = ChoiceFor(*table_, layer, weights.numbers.dtype());
  if (layer.outputs >= kLeastRowVectors * choice.panels->lanes) {
    panels_ = choice.panels;
    KeepInPanels(weights.numbers);
  } else {
    neurons_ = choice.neurons;
    weights_ = CopyOf(weights.numbers.data(), layer.weight_count() * DTypeSize_bytes(weights.numbers.dtype()));
  }
  LayOutScratch();
}

void RowLayer::KeepInPanels(const Matrix& numbers) {
  const RowKernel& kernel = *panels_;
  const int64_t inputs = (layer_.inputs + kernel.group - 1) / kernel.group * kernel.group;
  DispatchDType(numbers.dtype(), [&]<class T>(T) {
    weights_ = AlignedBuffer(inputs * layer_.outputs * static_cast<int64_t>(sizeof(T)) + kBehind_bytes);
    T* to = weights_.As<T>().data();
    for (int64_t p = 0; p < RowPanels(layer_.outputs, kernel.lanes); ++p) {
      const auto [begin, end] = RowPanelAt(p, layer_.outputs, kernel.lanes);
      for (int64_t k = 0; k < layer_.inputs; k += kernel.group, to += (end - begin) * kernel.group) {
        const int64_t count = std::min(kernel.group, layer_.inputs - k);
        for (int64_t j = begin; j < end; ++j) {
          std::copy_n(numbers.Row<T>(j) + k, count, to + (j - begin) * kernel.group);
        }
      }
    }
  });
  if (kernel.flip != 0) {
    for (uint8_t& byte : weights_.As<uint8_t>()) {
      byte ^= kernel.flip;
    }
  }
}

void RowLayer::LayOutScratch() {
  int64_t used = 0;
  const auto take = [&](int64_t size_bytes) {
    return std::exchange(used, used + (size_bytes + kVector_bytes - 1) / kVector_bytes * kVector_bytes);
  };
  const int64_t inputs = layer_.inputs + kVector_bytes;  // to whole groups and vectors
  if (narrow_sums_ || (panels_ != nullptr && panels_->group > 1)) {
    scratch_.x = take(inputs * static_cast<int64_t>(sizeof(float)));
  }
  if (narrow_sums_) {
    scratch_.sums = take(layer_.outputs * static_cast<int64_t>(sizeof(float)));
  }
  if (panels_ != nullptr) {
    scratch_.bits = take((layer_.inputs + 63) / 64 * static_cast<int64_t>(sizeof(uint64_t)));
    scratch_.groups = take((layer_.inputs + kGroupsAhead) * static_cast<int64_t>(sizeof(int32_t)));
    scratch_.kernel = take(inputs * panels_->scratch_bytes);
  }
  scratch_.all = used;
}

// The groups with an input that is not zero to their list; -1: nearly all of them, and no list.
int64_t RowLayer::SelectGroups(const void* x, char* scratch) const noexcept {
  auto* const bits = reinterpret_cast<uint64_t*>(scratch + scratch_.bits);
  int64_t count = dtype_ == DType::kF64 && !narrow_sums_
                      ? table_->mark_f64(static_cast<const double*>(x), layer_.inputs, bits)
                      : table_->mark_f32(static_cast<const float*>(x), layer_.inputs, bits);
  const int64_t group = panels_->group;
  const int64_t words = (layer_.inputs + 63) / 64;
  if (group > 1) {  // the lowest bit of a group says whether any is set
    const uint64_t lowest = group == 2 ? 0x5555555555555555U : 0x1111111111111111U;
    count = 0;
    for (int64_t i = 0; i < words; ++i) {
      uint64_t any = bits[i] | bits[i] >> 1;
      any = group == 2 ? any : any | any >> 2;
      bits[i] = any & lowest;
      count += std::popcount(bits[i]);
    }
  }
  const int64_t groups = (layer_.inputs + group - 1) / group;
  if (static_cast<double>(count) > kMostGroups * static_cast<double>(groups)) {
    return -1;
  }
  auto* const list = reinterpret_cast<int32_t*>(scratch + scratch_.groups);
  const int shift = std::countr_zero(static_cast<uint64_t>(group));
  int64_t n = 0;
  for (int64_t i = 0; i < words; ++i) {
    for (uint64_t left = bits[i]; left != 0; left &= left - 1) {
      list[n++] = static_cast<int32_t>((i * 64 + std::countr_zero(left)) >> shift);
    }
  }
  std::fill_n(list + n, kGroupsAhead, n == 0 ? 0 : list[n - 1]);
  return n;
}

const void* RowLayer::ConvertedInput(const void* x, char* scratch) const noexcept {
  if (!narrow_sums_ && (panels_ == nullptr || panels_->group == 1)) {
    return x;
  }
  auto* const to = reinterpret_cast<float*>(scratch + scratch_.x);
  DispatchFloat(dtype_, [&]<class T>(T) {
    std::transform(static_cast<const T*>(x), static_cast<const T*>(x) + layer_.inputs, to,
                   [](T number) { return static_cast<float>(number); });
  });
  std::fill_n(to + layer_.inputs, 4, 0.0F);
  return to;
}

void RowLayer::Forward(const void* x, void* a, void* scratch) const noexcept {
  auto* const room = static_cast<char*>(scratch);
  DispatchFloat(dtype_, [&]<class T>(T) {
    ForwardArgs args;
    args.x = {x, 1, layer_.inputs, layer_.inputs, dtype_};
    args.weights = {weights_.data(), layer_.outputs, layer_.inputs, layer_.inputs, dtype_};
    args.bias = bias_.size_bytes() == 0 ? nullptr : bias_.data();
    args.a = {a, 1, layer_.outputs, layer_.outputs, dtype_};
    const KernelTable<T>& kernels = *std::get<const KernelTable<T>*>(kernels_);
    const ForwardTask<T> task{&args, &layer_.activation, {}, {}};
    if (panels_ == nullptr && neurons_ == nullptr) {
      kernels.synapses[static_cast<size_t>(layer_.synapse)].forward_dots(task, Team{});
      return;
    }
    RowTask row;
    row.weights = weights_.data();
    row.inputs = layer_.inputs;
    row.outputs = layer_.outputs;
    row.x = ConvertedInput(x, room);
    row.scales = scales_.size_bytes() == 0 ? nullptr : static_cast<const float*>(scales_.data());
    row.sums = narrow_sums_ ? room + scratch_.sums : a;
    row.scratch = room + scratch_.kernel;
    if (panels_ != nullptr) {
      const int64_t some = IsDistance(layer_.synapse) ? -1 : SelectGroups(row.x, room);
      row.groups = some < 0 ? nullptr : reinterpret_cast<const int32_t*>(room + scratch_.groups);
      row.count = some < 0 ? (layer_.inputs + panels_->group - 1) / panels_->group : some;
      panels_->panels(row);
    } else {
      neurons_(row);
    }
    if (narrow_sums_) {
      std::copy_n(static_cast<const float*>(row.sums), layer_.outputs, static_cast<T*>(a));
    }
    kernels.activate(task, Team{});
  });
}

}  // namespace lamina::cpu
