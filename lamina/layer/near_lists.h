// For each of many rows a short list of what has been nearest so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace lamina {

template <class T>
struct Near {
  T distance;
  int64_t index;
};

/// A list may grow to twice k before it is cut back to the k nearest. The farthest of those is the limit of its row:
/// one comparison with it keeps almost all others out. Rows are independent of one another: different threads may
/// change the lists of different rows. kLargest: the largest numbers are the nearest.
template <class T, bool kLargest>
class NearLists {
 public:
  static bool IsNearer(T a, T b) { return kLargest ? a > b : a < b; }
  /// The size of one list.
  static constexpr int64_t Size_bytes(int64_t k) { return 2 * k * static_cast<int64_t>(sizeof(Near<T>)); }

  /// Empty lists.
  void Start(int64_t rows, int64_t k) {
    k_ = k;
    limits_.assign(static_cast<size_t>(rows), Farthest());
    sizes_.assign(static_cast<size_t>(rows), 0);
    near_.resize(static_cast<size_t>(2 * k * rows));
  }

  /// What is not nearer is of no use to Add(); one a row.
  const T* limits() const { return limits_.data(); }

  /// For one row indices ascend from call to call: of equal distances the first stays.
  void Add(int64_t row, T distance, int64_t index) {
    const auto i = static_cast<size_t>(row);
    if (!IsNearer(distance, limits_[i])) {
      return;
    }
    Near<T>* const list = ListOf(row);
    list[sizes_[i]++] = {distance, index};
    if (sizes_[i] == 2 * k_) {
      std::nth_element(list, list + (k_ - 1), list + 2 * k_, &IsBefore);
      sizes_[i] = k_;
      limits_[i] = list[k_ - 1].distance;
    }
  }

  /// Distances of a row to indices begin, begin + 1, ...
  void AddAll(int64_t row, std::span<const T> distances, int64_t begin) {
    constexpr size_t kStep = 16;
    const T limit = limits_[static_cast<size_t>(row)];
    for (size_t j = 0; j < distances.size(); j += kStep) {
      const std::span<const T> some = distances.subspan(j, std::min(kStep, distances.size() - j));
      int nearer = 0;  // without branches: the compiler makes vectors of it
      for (const T distance : some) {
        nearer |= static_cast<int>(IsNearer(distance, limit));
      }
      for (size_t i = 0; nearer != 0 && i < some.size(); ++i) {
        Add(row, some[i], begin + static_cast<int64_t>(j + i));
      }
    }
  }

  /// The k nearest of a row in order, of equally near ones that of the lower index first; fewer where so few were
  /// added.
  std::span<const Near<T>> Finish(int64_t row) {
    Near<T>* const list = ListOf(row);
    const int64_t count = sizes_[static_cast<size_t>(row)];
    std::sort(list, list + count, &IsBefore);
    return {list, static_cast<size_t>(std::min(k_, count))};
  }

 private:
  static bool IsBefore(const Near<T>& a, const Near<T>& b) {
    return IsNearer(a.distance, b.distance) || (a.distance == b.distance && a.index < b.index);
  }
  static constexpr T Farthest() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) {
      return kLargest ? -Limits::infinity() : Limits::infinity();
    }
    return kLargest ? Limits::lowest() : Limits::max();
  }
  Near<T>* ListOf(int64_t row) { return near_.data() + 2 * k_ * row; }

  int64_t k_ = 1;
  std::vector<T> limits_;
  std::vector<int64_t> sizes_;
  std::vector<Near<T>> near_;
};

}  // namespace lamina
