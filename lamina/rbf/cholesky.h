// Cholesky factors of symmetric positive matrices in panels of 32 rows (backend/cpu/factor_kernels.h), f32 and f64.
#pragma once

#include <cstdint>
#include <vector>

#include "lamina/backend/cpu/factor_kernels.h"
#include "lamina/base/buffer.h"

namespace lamina {

/// The place of element (i, j <= i) in panels that hold the lower triangle. Panel p has columns 0 to 32 p + 31.
inline int64_t TrianglePlace(int64_t i, int64_t j) {
  const int64_t p = i / cpu::kPanelRows;
  return cpu::kPanelRows * (cpu::kPanelRows * p * (p + 1) / 2 + j) + i % cpu::kPanelRows;
}
inline int64_t PanelsOf(int64_t rows) { return (rows + cpu::kPanelRows - 1) / cpu::kPanelRows; }
/// Elements of panels of `rows` rows.
inline int64_t TriangleSize(int64_t rows) { return TrianglePlace(PanelsOf(rows) * cpu::kPanelRows, 0); }

/// A = L L' for one matrix after another of the same size, with what L^-1 makes of targets, and L^-1 itself: 1/3 n^3
/// operations, or 2/3. Rows are filled up to whole panels with those of a unit matrix. Bits are the same for any number
/// of threads.
template <class T>
class Cholesky {
 public:
  Cholesky(int64_t rows, int64_t outputs, int threads, bool inverse);
  static int64_t Bytes(int64_t rows, int64_t outputs, bool inverse);

  int64_t rows() const { return rows_; }
  int64_t panels() const { return PanelsOf(rows_); }
  /// Panel p of A, then of L. What stands above A's diagonal does not matter.
  T* Panel(int64_t p) { return matrix_.As<T>().data() + TrianglePlace(p * cpu::kPanelRows, 0); }
  const T* Panel(int64_t p) const { return matrix_.As<T>().data() + TrianglePlace(p * cpu::kPanelRows, 0); }
  /// Target c of row i, then that of L^-1 times the targets.
  T& Target(int64_t i, int64_t c) { return TargetPanel(c / cpu::kPanelRows)[i * kStep + c % kStep]; }
  const T& Target(int64_t i, int64_t c) const { return const_cast<Cholesky*>(this)->Target(i, c); }

  /// False at a pivot that is not above `least`. A stop point a block of columns (lamina/base/stop.h).
  bool Factorise(T least);

  /// Element (i, j >= i) of L^-1 turned at j * 32 of what this gives; elements before stand for others.
  const T* InverseRow(int64_t i) const { return InversePanel(i / kStep) + i % kStep; }
  const T* InversePanel(int64_t p) const;
  /// x = (L')^-1 x of one column.
  void SolveTurned(T* x) const;
  /// The same panel times L'^-1 alone, on the calling thread: rows r with r L'^-1.
  void SolveRows(T* x) const;
  /// x = (L L')^-1 x for up to 32 targets, a panel of all columns; zeros behind the last row.
  void SolvePanel(T* x) const;
  /// The same for `targets` of them on the calling thread: element (i, c) at i * targets + c, zeros behind the last row
  /// up to whole panels. Each target reads L twice. SolvePanel() takes as long for one target as for 32.
  void SolveFew(T* x, int64_t targets) const;

 private:
  static constexpr int64_t kStep = cpu::kPanelRows;
  // A panel that columns are computed for; those before `first` are zero.
  struct Unit {
    T* panel;
    int64_t first;
  };
  T* TargetPanel(int64_t p) { return targets_.As<T>().data() + p * panels() * kStep * kStep; }
  const T* OwnInverse(int64_t p) const { return own_inverses_.As<T>().data() + p * kStep * kStep; }
  void Prepare();
  std::vector<Unit> UnitsBehind(int64_t end);
  void Subtract(const Unit* units, int64_t count, int64_t block, int64_t width) const;
  void Finish(const Unit& unit, int64_t block, int64_t width) const;
  void TurnedStep(int64_t p, T* x, int64_t step) const;
  bool FactoriseBlock(int64_t block, int64_t width, T least);

  int64_t rows_;
  int64_t outputs_;
  int threads_;
  AlignedBuffer matrix_;
  AlignedBuffer inverse_;       // panels from their own first column on; or empty
  AlignedBuffer targets_;       // panels of up to 32 targets, all columns
  AlignedBuffer own_inverses_;  // of the blocks on the diagonal
};

}  // namespace lamina
