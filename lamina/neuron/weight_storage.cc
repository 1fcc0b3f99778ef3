// Rounding of weights to halves and to bytes with a scale.
#include "lamina/neuron/weight_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/names.h"

namespace lamina {
namespace {

constexpr Named<WeightStorage> kStorages[] = {{"exact", WeightStorage::kExact},
                                              {"bf16", WeightStorage::kBF16},
                                              {"f16", WeightStorage::kF16},
                                              {"i8", WeightStorage::kI8}};
constexpr int kLargestByte = 127;

[[noreturn]] void ThrowBeyond(int64_t row, int64_t column, double weight, WeightStorage storage) {
  throw Error(ErrorCode::kUnsupported,
              fmt::format("the weight of input {} in neuron {} (counted from 0) {} {}", column, row,
                          std::isfinite(weight) ? "is too large for" : "is not finite and has no place in",
                          storage == WeightStorage::kI8 ? "a byte with a scale" : WeightStorageName(storage)),
              {.value = fmt::format("{}", weight), .remedy = "Keep the weights exact (--weights exact)."});
}

// To 16 significant bits, upwards, so that a byte times it fits an f32; at least the smallest normal number.
double ScaleFor(double largest) {
  const auto least = static_cast<double>(std::numeric_limits<float>::min());
  const double wanted = std::max(largest / kLargestByte, least);
  int exponent = 0;
  std::frexp(wanted, &exponent);
  const double unit = std::ldexp(1.0, exponent - 16);
  return std::ceil(wanted / unit) * unit;
}

template <class T>
void StoreBytes(const T* from, int64_t row, int64_t count, int8_t* to, float& scale) {
  const auto size = [](T weight) { return static_cast<double>(std::abs(weight)); };
  int64_t largest = 0;
  for (int64_t k = 0; k < count; ++k) {
    if (!std::isfinite(from[k])) {
      ThrowBeyond(row, k, static_cast<double>(from[k]), WeightStorage::kI8);
    }
    largest = size(from[k]) > size(from[largest]) ? k : largest;
  }
  const double step = ScaleFor(size(from[largest]));
  if (step * kLargestByte > std::numeric_limits<float>::max()) {
    ThrowBeyond(row, largest, static_cast<double>(from[largest]), WeightStorage::kI8);
  }
  scale = static_cast<float>(step);
  for (int64_t k = 0; k < count; ++k) {
    to[k] = static_cast<int8_t>(std::nearbyint(static_cast<double>(from[k]) / step));
  }
}

template <class Half, class T>
void StoreHalves(const T* from, int64_t row, int64_t count, Half* to, WeightStorage storage) {
  for (int64_t k = 0; k < count; ++k) {
    to[k] = Half(static_cast<float>(from[k]));
    if (!std::isfinite(static_cast<float>(to[k]))) {
      ThrowBeyond(row, k, static_cast<double>(from[k]), storage);
    }
  }
}

}  // namespace

std::string_view WeightStorageName(WeightStorage storage) { return NameOf(storage, kStorages); }
std::vector<std::string> WeightStorageNames() { return NamesIn(kStorages); }
WeightStorage ParseWeightStorage(std::string_view name) {
  return ParseName(name, kStorages, "unknown way to keep weights");
}

DType StoredType(WeightStorage storage, DType dtype) {
  switch (storage) {
    case WeightStorage::kBF16: return DType::kBF16;
    case WeightStorage::kF16: return DType::kF16;
    case WeightStorage::kI8: return DType::kI8;
    case WeightStorage::kExact: break;
  }
  return dtype;
}

void StoredWeights::Widen(MatrixView to) const {
  ConvertMatrix(numbers.view(), to);
  DispatchFloat(to.dtype, [&]<class T>(T) {
    for (size_t j = 0; j < scales.size(); ++j) {
      T* const row = to.Row<T>(static_cast<int64_t>(j));
      std::for_each(row, row + to.cols, [&](T& weight) { weight *= static_cast<T>(scales[j]); });
    }
  });
}

StoredWeights StoreWeights(ConstMatrixView weights, WeightStorage storage) {
  StoredWeights stored;
  stored.numbers = Matrix(weights.rows, weights.cols, StoredType(storage, weights.dtype));
  if (storage == WeightStorage::kExact) {
    ConvertMatrix(weights, stored.numbers.view());
    return stored;
  }
  stored.scales.resize(storage == WeightStorage::kI8 ? static_cast<size_t>(weights.rows) : 0);
  DispatchFloat(weights.dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < weights.rows; ++j) {
      const T* const from = weights.Row<T>(j);
      if (storage == WeightStorage::kI8) {
        StoreBytes(from, j, weights.cols, stored.numbers.Row<int8_t>(j), stored.scales[static_cast<size_t>(j)]);
      } else if (storage == WeightStorage::kBF16) {
        StoreHalves(from, j, weights.cols, stored.numbers.Row<BFloat16>(j), storage);
      } else {
        StoreHalves(from, j, weights.cols, stored.numbers.Row<Float16>(j), storage);
      }
    }
  });
  return stored;
}

}  // namespace lamina
