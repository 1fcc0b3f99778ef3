// The numbers of a network, one array on the host.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "lamina/base/buffer.h"
#include "lamina/base/sparse_matrix.h"

namespace lamina {

/// A flat array, at first zero. Matrices in it may wait as lists until somebody asks for their elements: pages of the
/// array that nobody touched take no memory. Offsets are in elements. Any threads may read at once.
class ParameterArray {
 public:
  ParameterArray() = default;
  ParameterArray(int64_t elements, DType dtype) : values_(elements * DTypeSize_bytes(dtype)), dtype_(dtype) {}
  /// A copy has memory of its own; lists are shared.
  ParameterArray(const ParameterArray& other);
  ParameterArray(ParameterArray&& other) noexcept = default;
  ParameterArray& operator=(const ParameterArray& other) { return *this = ParameterArray(other); }
  ParameterArray& operator=(ParameterArray&& other) noexcept = default;
  ~ParameterArray() = default;

  int64_t size_bytes() const { return values_.size_bytes(); }
  /// The whole. No list waits any more.
  void* data() const noexcept;
  /// What stands at `offset`. If it is a list, it waits no more.
  void* At(int64_t offset) const noexcept;
  /// Lets a matrix wait, behind those that wait. Its elements of the array are zero.
  void Keep(int64_t offset, std::shared_ptr<const SparseMatrix> matrix);
  /// Null where no list waits at `offset`.
  std::shared_ptr<const SparseMatrix> ListAt(int64_t offset) const noexcept;

 private:
  struct Waiting {
    int64_t offset;
    std::shared_ptr<const SparseMatrix> matrix;
  };
  struct Lists {
    std::mutex mutex;
    std::list<Waiting> waiting;  // ascending

    std::list<Waiting>::iterator Find(int64_t offset) noexcept;
  };

  void* Place(int64_t offset) const noexcept;
  void Write(const Waiting& list) const noexcept;

  AlignedBuffer values_;
  DType dtype_ = DType::kF32;
  std::unique_ptr<Lists> lists_;  // null: there never was one
};

}  // namespace lamina
