// Scratch memory of a prepared layer: one buffer for all passes, as they run one after the other.
#pragma once

#include "lamina/backend/cpu/kernels.h"
#include "lamina/base/buffer.h"

namespace lamina::cpu {

constexpr ScratchSizes LargestOf(const ScratchSizes& a, const ScratchSizes& b) {
  return {std::max(a.rows, b.rows), std::max(a.columns, b.columns), std::max(a.partial, b.partial),
          std::max(a.picks, b.picks)};
}

template <class T>
class ScratchBuffer {
 public:
  ScratchBuffer(const ScratchSizes& sizes, int64_t rest)
      : rows_(Padded(sizes.rows)),
        columns_(Padded(sizes.columns)),
        partial_(Padded(sizes.partial)),
        buffer_((rows_ + columns_ + partial_ + rest) * static_cast<int64_t>(sizeof(T))),
        picks_(sizes.picks * static_cast<int64_t>(sizeof(int32_t))) {}

  Scratch<T> get() const {
    T* const base = buffer_.template As<T>().data();
    return {base, base + rows_, base + rows_ + columns_, base + rows_ + columns_ + partial_,
            picks_.size_bytes() == 0 ? nullptr : picks_.template As<int32_t>().data()};
  }

 private:
  // To whole cache lines.
  static int64_t Padded(int64_t count) { return RoundUp(count, 64 / static_cast<int64_t>(sizeof(T))); }

  int64_t rows_, columns_, partial_;
  AlignedBuffer buffer_;
  AlignedBuffer picks_;
};

}  // namespace lamina::cpu
