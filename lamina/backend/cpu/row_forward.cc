// Which kernel takes a layer's single rows, and the weights in its order.
#include "lamina/backend/cpu/row_forward.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/backend/cpu/kernels.h"
#include "lamina/base/convert.h"

namespace lamina::cpu {
namespace {

constexpr int64_t kVector_bytes = 64;  // of the widest vectors
// The share of groups up to which a list of them pays: making it costs about 1 % of reading all.
constexpr double kMostGroups = 0.9;
// Rows that alone need less than this share of what they read together are quicker one by one: 64 rows of 784 inputs
// before 1024 neurons, f32 and bf16 (a group is a pair).
constexpr double kFewAlone = 0.25;
constexpr double kFewPairsAlone = 0.4;

constexpr int64_t kZerosBehind = 4;  // of a converted row: to whole groups

// Words of a bit for each input.
int64_t WordsOf(int64_t inputs) { return (inputs + 63) / 64; }

// The size of tiles that takes the least time. Reading the weights takes as long as summing three rows.
int64_t TileSizeFor(int64_t rows) {
  int64_t best = 1;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t size : kTileSizes) {
    const int64_t time = size > rows ? least : RowTiles{rows, size}.count() * std::max<int64_t>(size, 3);
    if (time < least) {
      best = size;
      least = time;
    }
  }
  return best;
}

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
  AlignedBuffer copy(size_bytes + kRowWeightsBehind_bytes);
  std::memcpy(copy.data(), data, static_cast<size_t>(size_bytes));
  return copy;
}

// Whether no weight of a type that has tiles is infinite or NaN, by the bits.
bool AreFinite(const Matrix& numbers) {
  const int64_t count = numbers.rows() * numbers.cols();
  const auto none_above = [&]<class Bits>(Bits sign, Bits least) {
    const auto* const bits = static_cast<const Bits*>(numbers.data());
    Bits largest = 0;
    for (int64_t i = 0; i < count; ++i) {
      largest = std::max(largest, static_cast<Bits>(bits[i] & ~sign));
    }
    return largest < least;
  };
  switch (numbers.dtype()) {
    case DType::kF32: return none_above(uint32_t{1} << 31, uint32_t{0xFF} << 23);
    case DType::kBF16: return none_above(uint16_t{0x8000}, uint16_t{0x7F80});
    case DType::kF16: return none_above(uint16_t{0x8000}, uint16_t{0x7C00});
    default: return false;
  }
}

}  // namespace

[[gnu::cold]] RowLayer::RowLayer(const LayerSpec& layer, DType dtype, const StoredWeights& weights, const void* bias)
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
  if (layer.synapse == Synapse::kDot && weights.numbers.dtype() == dtype) {
    lists_ = ListWeights(weights.numbers, choice.panels->lanes);
  }
  if (listed()) {
    return;
  }
  if (layer.outputs >= kLeastRowVectors * choice.panels->lanes) {
    panels_ = choice.panels;
    weights_ = WeightsInPanels(weights.numbers, *panels_);
  } else {
    neurons_ = choice.neurons;
    weights_ = CopyOf(weights.numbers.data(), layer.weight_count() * DTypeSize_bytes(weights.numbers.dtype()));
  }
  in_tiles_ = panels_ != nullptr && panels_->in_tiles && AreFinite(weights.numbers);
  LayOutScratch();
}

RowLayer::RowLayer(const RowLayer&) = default;
RowLayer::RowLayer(RowLayer&&) noexcept = default;
RowLayer& RowLayer::operator=(const RowLayer&) = default;
RowLayer& RowLayer::operator=(RowLayer&&) noexcept = default;
RowLayer::~RowLayer() = default;

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
    scratch_.bits = take(2 * WordsOf(layer_.inputs) * static_cast<int64_t>(sizeof(uint64_t)));
    scratch_.groups = take((layer_.inputs + kGroupsAhead) * static_cast<int64_t>(sizeof(int32_t)));
    scratch_.kernel = take(inputs * panels_->scratch_bytes);
  }
  scratch_.all = used;
}

// A bit for each group of a row with an input that is not zero, the lowest of the group's; returns how many.
int64_t RowLayer::MarkGroups(const void* x, uint64_t* bits) const noexcept {
  const int64_t group = panels_->group;
  int64_t count = sums_f64() ? table_->mark_f64(static_cast<const double*>(x), layer_.inputs, bits)
                             : table_->mark_f32(static_cast<const float*>(x), layer_.inputs, bits);
  if (group > 1) {
    const uint64_t lowest = group == 2 ? 0x5555555555555555U : 0x1111111111111111U;
    count = 0;
    for (int64_t i = 0; i < WordsOf(layer_.inputs); ++i) {
      uint64_t any = bits[i] | bits[i] >> 1;
      any = group == 2 ? any : any | any >> 2;
      bits[i] = any & lowest;
      count += std::popcount(bits[i]);
    }
  }
  return count;
}

// The groups that one of the rows needs, to `list`; all, where these are nearly all. `alone`: how many each of them
// needs, together. `bits`: room for two rows.
RowGroups RowLayer::SelectGroups(const char* x, int64_t rows, uint64_t* bits, int32_t* list,
                                 int64_t& alone) const noexcept {
  const int64_t words = WordsOf(layer_.inputs);
  int64_t count = MarkGroups(x, bits);
  alone += count;
  for (int64_t row = 1; row < rows; ++row) {
    alone += MarkGroups(x + row * XRow_bytes(), bits + words);
    count = 0;
    for (int64_t i = 0; i < words; ++i) {
      bits[i] |= bits[words + i];
      count += std::popcount(bits[i]);
    }
  }
  if (static_cast<double>(count) > kMostGroups * static_cast<double>(GroupCount())) {
    return {nullptr, GroupCount()};
  }
  const int shift = std::countr_zero(static_cast<uint64_t>(panels_->group));
  int64_t n = 0;
  for (int64_t i = 0; i < words; ++i) {
    for (uint64_t left = bits[i]; left != 0; left &= left - 1) {
      list[n++] = static_cast<int32_t>((i * 64 + std::countr_zero(left)) >> shift);
    }
  }
  std::fill_n(list + n, kGroupsAhead, n == 0 ? 0 : list[n - 1]);
  return {list, n};
}

// The groups of every tile of `task.tile_rows` rows. Returns whether its rows had better be summed one by one.
bool RowLayer::SelectTiles(const RowTask& task, char* scratch, RowGroups* groups) const noexcept {
  auto* const bits = reinterpret_cast<uint64_t*>(scratch + scratch_.bits * task.rows);
  auto* const lists = reinterpret_cast<int32_t*>(scratch + scratch_.groups * task.rows);
  int64_t alone = 0;
  int64_t together = 0;
  const RowTiles tiles{task.rows, task.tile_rows};
  for (int64_t t = 0; t < tiles.count(); ++t) {
    if (IsDistance(layer_.synapse)) {
      groups[t] = {nullptr, GroupCount()};
      continue;
    }
    groups[t] = SelectGroups(static_cast<const char*>(task.x) + tiles.Begin(t) * XRow_bytes(), tiles.size, bits,
                             lists + t * (layer_.inputs + kGroupsAhead), alone);
    together += tiles.size * groups[t].count;
  }
  const double few = panels_->group > 1 ? kFewPairsAlone : kFewAlone;
  return task.tile_rows > 1 && static_cast<double>(alone) < few * static_cast<double>(together);
}

bool RowLayer::ConvertsInput() const { return narrow_sums_ || (panels_ != nullptr && panels_->group > 1); }

// Numbers from a row of what the kernels read to the next; of converted ones with zeros behind.
int64_t RowLayer::XStride() const { return layer_.inputs + (ConvertsInput() ? kZerosBehind : 0); }
int64_t RowLayer::XRow_bytes() const {
  return XStride() * static_cast<int64_t>(sums_f64() ? sizeof(double) : sizeof(float));
}
int64_t RowLayer::GroupCount() const { return (layer_.inputs + panels_->group - 1) / panels_->group; }

const void* RowLayer::ConvertedInput(const void* x, int64_t rows, char* scratch) const noexcept {
  if (!ConvertsInput()) {
    return x;
  }
  auto* to = reinterpret_cast<float*>(scratch + scratch_.x * rows);
  auto* const first = to;
  DispatchFloat(dtype_, [&]<class T>(T) {
    const T* from = static_cast<const T*>(x);
    for (int64_t row = 0; row < rows; ++row, from += layer_.inputs, to += XStride()) {
      std::transform(from, from + layer_.inputs, to, [](T number) { return static_cast<float>(number); });
      std::fill_n(to + layer_.inputs, kZerosBehind, 0.0F);
    }
  });
  return first;
}

// The sums of the rows, where the weights stand in panels or in few bits.
void RowLayer::SumRows(RowTask& task, char* scratch) const noexcept {
  if (listed()) {
    task.weights = lists_.weights.data();
    task.listed = lists_.inputs.data();
    task.list_begin = lists_.begin.data();
    return (dtype_ == DType::kF64 ? table_->f64_lists : table_->f32_lists)(task);
  }
  if (panels_ == nullptr) {
    neurons_(task);
    return;
  }
  RowGroups groups[kMostRows];
  task.tile_rows = in_tiles_ ? TileSizeFor(task.rows) : 1;
  if (SelectTiles(task, scratch, groups)) {
    task.tile_rows = 1;
    SelectTiles(task, scratch, groups);
  }
  task.groups = groups;
  panels_->panels(task);
}

void RowLayer::Forward(const void* x, int64_t rows, void* a, void* scratch) const noexcept {
  auto* const room = static_cast<char*>(scratch);
  DispatchFloat(dtype_, [&]<class T>(T) {
    const int64_t outputs = layer_.outputs;
    ForwardArgs args;
    args.weights = {weights_.data(), outputs, layer_.inputs, layer_.inputs, dtype_};
    args.bias = bias_.size_bytes() == 0 ? nullptr : bias_.data();
    const KernelTable<T>& kernels = *std::get<const KernelTable<T>*>(kernels_);
    const ForwardTask<T> task{&args, &layer_.activation, {}, {}};
    if (panels_ == nullptr && neurons_ == nullptr && !listed()) {
      for (int64_t row = 0; row < rows; ++row) {
        args.x = {static_cast<const T*>(x) + row * layer_.inputs, 1, layer_.inputs, layer_.inputs, dtype_};
        args.a = {static_cast<T*>(a) + row * outputs, 1, outputs, outputs, dtype_};
        kernels.synapses[static_cast<size_t>(layer_.synapse)].forward_dots(task, Team{});
      }
      return;
    }
    args.x = {x, rows, layer_.inputs, layer_.inputs, dtype_};
    args.a = {a, rows, outputs, outputs, dtype_};
    RowTask sums;
    sums.weights = weights_.data();
    sums.inputs = layer_.inputs;
    sums.outputs = outputs;
    sums.rows = rows;
    sums.x = ConvertedInput(x, rows, room);
    sums.x_stride = XStride();
    sums.scales = scales_.size_bytes() == 0 ? nullptr : static_cast<const float*>(scales_.data());
    sums.sums = narrow_sums_ ? room + scratch_.sums * rows : a;
    sums.scratch = room + scratch_.kernel * rows;
    SumRows(sums, room);
    if (narrow_sums_) {
      std::copy_n(static_cast<const float*>(sums.sums), rows * outputs, static_cast<T*>(a));
    }
    kernels.activate(task, Team{});
  });
}

}  // namespace lamina::cpu
