// Left-looking, in blocks of 128 or 256 columns. Targets and the unit matrix are rows below the matrix: what becomes of
// them is L^-1 times the targets, and L^-1 turned.
#include "lamina/rbf/cholesky.h"

#include <algorithm>

#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"

namespace lamina {
namespace {

constexpr int64_t kBlockPanels = 4;
constexpr int64_t kGroupUnits = 16;  // that read the block's rows from the second cache, one after the other

// Columns taken off at a time: those of a panel and of 32 columns of the block stay in the first cache.
template <class T>
constexpr int64_t kDepth = 512 / static_cast<int64_t>(sizeof(T));

template <class T>
AlignedBuffer Elements(int64_t count) {
  return AlignedBuffer(std::max<int64_t>(1, count) * static_cast<int64_t>(sizeof(T)));
}

int64_t InverseSize(int64_t panels) { return cpu::kPanelRows * cpu::kPanelRows * panels * (panels + 1) / 2; }
int64_t TargetSize(int64_t rows, int64_t outputs) {
  return PanelsOf(outputs) * PanelsOf(rows) * cpu::kPanelRows * cpu::kPanelRows;
}

}  // namespace

template <class T>
Cholesky<T>::Cholesky(int64_t rows, int64_t outputs, int threads, bool inverse)
    : rows_(rows),
      outputs_(outputs),
      threads_(threads),
      matrix_(Elements<T>(TriangleSize(rows))),
      inverse_(inverse ? Elements<T>(InverseSize(PanelsOf(rows))) : AlignedBuffer()),
      targets_(Elements<T>(TargetSize(rows, outputs))),
      own_inverses_(Elements<T>(PanelsOf(rows) * kStep * kStep)) {
  cpu::ApplyInstructionSets();
}

template <class T>
int64_t Cholesky<T>::Bytes(int64_t rows, int64_t outputs, bool inverse) {
  const int64_t panels = PanelsOf(rows);
  return static_cast<int64_t>(sizeof(T)) * (TriangleSize(rows) + (inverse ? InverseSize(panels) : 0) +
                                            TargetSize(rows, outputs) + panels * kStep * kStep);
}

template <class T>
const T* Cholesky<T>::InversePanel(int64_t p) const {
  return inverse_.As<T>().data() + kStep * kStep * (p * panels() - p * (p - 1) / 2 - p);
}

// Rows behind the last, and the unit matrix.
template <class T>
void Cholesky<T>::Prepare() {
  const int64_t all = panels() * kStep;
  T* const last = Panel(panels() - 1);
  for (int64_t j = 0; j < all; ++j) {
    for (int64_t i = rows_; i < all; ++i) {
      last[j * kStep + i % kStep] = i == j ? T(1) : T(0);
    }
  }
  for (int64_t p = 0; p < PanelsOf(outputs_); ++p) {
    std::fill(TargetPanel(p) + rows_ * kStep, TargetPanel(p) + all * kStep, T(0));
  }
  RunParts(threads_, inverse_.size_bytes() > 0 ? panels() : 0, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      T* const panel = const_cast<T*>(InversePanel(p));
      std::fill(panel + p * kStep * kStep, panel + all * kStep, T(0));
      for (int64_t r = 0; r < kStep; ++r) {
        panel[(p * kStep + r) * kStep + r] = T(1);
      }
    }
  });
}

// All panels whose columns of the blocks before `end` are computed by the factor's rows of the last of these.
template <class T>
std::vector<typename Cholesky<T>::Unit> Cholesky<T>::UnitsBehind(int64_t end) {
  std::vector<Unit> units;
  for (int64_t p = end; p < panels(); ++p) {
    units.push_back({Panel(p), 0});
  }
  for (int64_t p = 0; inverse_.size_bytes() > 0 && p < end; ++p) {
    units.push_back({const_cast<T*>(InversePanel(p)), p * kStep});
  }
  for (int64_t p = 0; p < PanelsOf(outputs_); ++p) {
    units.push_back({TargetPanel(p), 0});
  }
  return units;
}

// What columns before the block take off `width` panels of columns from it on.
template <class T>
void Cholesky<T>::Subtract(const Unit* units, int64_t count, int64_t block, int64_t width) const {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  for (int64_t from = 0; from < block * kStep; from += kDepth<T>) {
    const int64_t to = std::min(block * kStep, from + kDepth<T>);
    for (int64_t u = 0; u < count; ++u) {
      const int64_t first = std::max(from, units[u].first);
      for (int64_t q = 0; first < to && q < width; ++q) {
        kernels.update(units[u].panel + first * kStep, Panel(block + q) + first * kStep,
                       units[u].panel + (block + q) * kStep * kStep, to - first);
      }
    }
  }
}

// Columns of the block, of what is left, by the block's own factor.
template <class T>
void Cholesky<T>::Finish(const Unit& unit, int64_t block, int64_t width) const {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  const int64_t first = std::max(block * kStep, unit.first);
  for (int64_t q = first / kStep - block; q < width; ++q) {
    const int64_t column = (block + q) * kStep;
    T* const own = unit.panel + column * kStep;
    kernels.update(unit.panel + first * kStep, Panel(block + q) + first * kStep, own, column - first);
    kernels.times_inverse(own, OwnInverse(block + q));
  }
}

template <class T>
bool Cholesky<T>::FactoriseBlock(int64_t block, int64_t width, T least) {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  for (int64_t p = block; p < block + width; ++p) {
    const Unit unit{Panel(p), 0};
    Finish(unit, block, p - block);
    T* const own = Panel(p) + p * kStep * kStep;
    kernels.update(Panel(p) + block * kStep * kStep, Panel(p) + block * kStep * kStep, own, (p - block) * kStep);
    if (!kernels.factor(own, const_cast<T*>(OwnInverse(p)), least)) {
      return false;
    }
  }
  return true;
}

template <class T>
bool Cholesky<T>::Factorise(T least) {
  Prepare();
  // Wider blocks read the columns before them less often, but a block's own factor is one thread's work.
  const int64_t widest = threads_ == 1 ? 2 * kBlockPanels : kBlockPanels;
  for (int64_t block = 0; block < panels(); block += widest) {
    StopPoint();
    const int64_t width = std::min(widest, panels() - block);
    RunTeam(static_cast<int>(std::min<int64_t>(threads_, block > 0 ? width : 1)), [&](Team team) {
      for (int64_t q = team.thread; q < width; q += team.size) {
        const Unit unit{Panel(block + q), 0};
        Subtract(&unit, 1, block, q + 1);
      }
    });
    if (!FactoriseBlock(block, width, least)) {
      return false;
    }
    const std::vector<Unit> units = UnitsBehind(block + width);
    RunTeam(threads_, [&](Team team) {
      team.Barrier();  // before the first Share()
      team.Share(std::ssize(units), 0, [&](int64_t begin, int64_t end) {
        for (int64_t u = begin; u < end; u += kGroupUnits) {
          const int64_t count = std::min(kGroupUnits, end - u);
          Subtract(&units[static_cast<size_t>(u)], count, block, width);
          for (int64_t own = u; own < u + count; ++own) {
            Finish(units[static_cast<size_t>(own)], block, width);
          }
        }
      });
    });
  }
  return true;
}

// x of panel p by the block on its diagonal, and what that takes off x of the panels before it.
template <class T>
void Cholesky<T>::TurnedStep(int64_t p, T* x, int64_t step) const {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  T own[kStep] = {};
  const int64_t count = std::min(kStep, rows_ - p * kStep);
  const T* const inverse = OwnInverse(p);  // of the factor: turned, its columns are sums
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      own[j] += inverse[j * kStep + i] * x[(p * kStep + i) * step];
    }
  }
  for (int64_t i = 0; i < count; ++i) {
    x[(p * kStep + i) * step] = own[i];
  }
  kernels.subtract_columns(Panel(p), p * kStep, own, x, step);
}

template <class T>
void Cholesky<T>::SolveTurned(T* x) const {
  for (int64_t p = panels() - 1; p >= 0; --p) {
    TurnedStep(p, x, 1);
  }
}

template <class T>
void Cholesky<T>::SolveFew(T* x, int64_t targets) const {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  for (int64_t p = 0; p < panels(); ++p) {
    T* const of_panel = x + p * kStep * targets;
    for (int64_t c = 0; c < targets; ++c) {
      alignas(64) T left[kStep];
      alignas(64) T own[kStep] = {};
      for (int64_t r = 0; r < kStep; ++r) {
        left[r] = of_panel[r * targets + c];
      }
      kernels.subtract_rows(Panel(p), p * kStep, x + c, targets, left);
      kernels.subtract_rows(OwnInverse(p), kStep, left, 1, own);
      for (int64_t r = 0; r < kStep; ++r) {
        of_panel[r * targets + c] = -own[r];
      }
    }
  }
  for (int64_t p = panels() - 1; p >= 0; --p) {
    for (int64_t c = 0; c < targets; ++c) {
      TurnedStep(p, x + c, targets);
    }
  }
}

template <class T>
void Cholesky<T>::SolveRows(T* x) const {
  const Unit unit{x, 0};
  for (int64_t block = 0; block < panels(); block += kBlockPanels) {
    const int64_t width = std::min(kBlockPanels, panels() - block);
    Subtract(&unit, 1, block, width);
    Finish(unit, block, width);
  }
}

template <class T>
void Cholesky<T>::SolvePanel(T* x) const {
  const cpu::FactorTable<T>& kernels = cpu::FactorKernels<T>();
  const Unit unit{x, 0};
  const auto size = [&](int64_t block) { return std::min(kBlockPanels, panels() - block); };
  const auto each = [&](int64_t width, const auto& fn) {
    RunTeam(static_cast<int>(std::min<int64_t>(threads_, width)), [&](Team team) {
      for (int64_t q = team.thread; q < width; q += team.size) {
        fn(q);
      }
    });
  };
  for (int64_t block = 0; block < panels(); block += kBlockPanels) {
    each(size(block), [&](int64_t q) {
      const int64_t own = block + q;
      kernels.update(x, Panel(own), x + own * kStep * kStep, block * kStep);
    });
    Finish(unit, block, size(block));
  }
  for (int64_t block = (panels() - 1) / kBlockPanels * kBlockPanels; block >= 0; block -= kBlockPanels) {
    const int64_t end = block + size(block);
    const auto subtract = [&](int64_t p, int64_t from) {
      kernels.update_turned(x + from * kStep * kStep, Panel(from) + p * kStep * kStep, x + p * kStep * kStep);
    };
    each(size(block), [&](int64_t q) {
      for (int64_t from = end; from < panels(); ++from) {
        subtract(block + q, from);
      }
    });
    for (int64_t p = end - 1; p >= block; --p) {
      for (int64_t from = p + 1; from < end; ++from) {
        subtract(p, from);
      }
      kernels.times_inverse_turned(x + p * kStep * kStep, OwnInverse(p));
    }
  }
}

template class Cholesky<float>;
template class Cholesky<double>;

}  // namespace lamina
