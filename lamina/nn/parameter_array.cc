// Lists are written where their matrices stand, at the first question for them.
#include "lamina/nn/parameter_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lamina {

ParameterArray::ParameterArray(const ParameterArray& other) : dtype_(other.dtype_) {
  if (other.lists_ == nullptr) {
    values_ = other.values_;
    return;
  }
  const std::scoped_lock lock(other.lists_->mutex);
  values_ = AlignedBuffer(other.size_bytes());
  lists_ = std::make_unique<Lists>();
  lists_->waiting = other.lists_->waiting;
  int64_t from = 0;
  const auto copy_up_to = [&](int64_t end) {
    std::memcpy(Place(from), other.Place(from), static_cast<size_t>((end - from) * DTypeSize_bytes(dtype_)));
  };
  for (const auto& [offset, matrix] : lists_->waiting) {
    copy_up_to(offset);
    from = offset + matrix->rows() * matrix->cols;
  }
  copy_up_to(size_bytes() / DTypeSize_bytes(dtype_));
}

void* ParameterArray::data() const noexcept {
  if (lists_ != nullptr) {
    const std::scoped_lock lock(lists_->mutex);
    for (; !lists_->waiting.empty(); lists_->waiting.pop_front()) {
      Write(lists_->waiting.front());
    }
  }
  return values_.data();
}

void* ParameterArray::At(int64_t offset) const noexcept {
  if (lists_ != nullptr) {
    const std::scoped_lock lock(lists_->mutex);
    if (const auto list = lists_->Find(offset); list != lists_->waiting.end()) {
      Write(*list);
      lists_->waiting.erase(list);
    }
  }
  return Place(offset);
}

void ParameterArray::Keep(int64_t offset, std::shared_ptr<const SparseMatrix> matrix) {
  if (lists_ == nullptr) {
    lists_ = std::make_unique<Lists>();
  }
  lists_->waiting.push_back({offset, std::move(matrix)});
}

std::shared_ptr<const SparseMatrix> ParameterArray::ListAt(int64_t offset) const noexcept {
  if (lists_ == nullptr) {
    return nullptr;
  }
  const std::scoped_lock lock(lists_->mutex);
  const auto list = lists_->Find(offset);
  return list == lists_->waiting.end() ? nullptr : list->matrix;
}

std::list<ParameterArray::Waiting>::iterator ParameterArray::Lists::Find(int64_t offset) noexcept {
  return std::ranges::find(waiting, offset, &Waiting::offset);
}

void* ParameterArray::Place(int64_t offset) const noexcept {
  return static_cast<char*>(values_.data()) + offset * DTypeSize_bytes(dtype_);
}

void ParameterArray::Write(const Waiting& list) const noexcept {
  for (int64_t i = 0; i < list.matrix->rows(); ++i) {
    for (const SparseMatrix::Element& element : list.matrix->Row(i)) {
      WriteNumber(element.value, dtype_, Place(list.offset + i * list.matrix->cols + element.column));
    }
  }
}

}  // namespace lamina
