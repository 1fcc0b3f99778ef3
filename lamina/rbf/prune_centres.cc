// Backward elimination. The sum that SolveByCentres() makes least has the second derivatives H = K'K + ridge K(centres,
// centres). Without centre j it grows by alpha_j^2 / (H^-1)_jj, and H^-1 changes by its column j alone.
#include "lamina/rbf/prune_centres.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/random.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/cholesky.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_solve.h"
#include "lamina/rbf/nystroem.h"

namespace lamina {
namespace {

constexpr int64_t kFolds = 4;
constexpr uint64_t kFoldStream = 0xF01D5;
constexpr int64_t kFewestRows = 20;  // of which some may be asked
constexpr int64_t kMostCandidates = 1500;
constexpr int64_t kFewestKept = 5;
constexpr double kStepOfCentres = 1.4142135623730951;
constexpr int64_t kRowsOfSums = 256;
constexpr double kFirstAddition = 1e-12;  // to the diagonal of H, whose largest number is 1
constexpr double kLeastPivotOfSums = 1e-14;
constexpr auto kNumberBytes = static_cast<int64_t>(sizeof(double));

int64_t InProductSteps(int64_t n) { return (n + cpu::kProductStep - 1) / cpu::kProductStep * cpu::kProductStep; }

// H and K'y of rows and their weights, and from them H^-1 and alpha.
class NeededCentres {
 public:
  NeededCentres(ConstMatrixView x, ConstMatrixView y, ConstMatrixView candidates, const KernelMachine& chosen,
                const KernelMachineOptions& options)
      : y_(y),
        options_(options),
        shape_{chosen.kind.p, chosen.kind.power, chosen.scale},
        rows_(x, chosen.feature_weights, chosen.kind.p, options.threads),
        centres_(candidates, chosen.feature_weights, chosen.kind.p, options.threads),
        count_(candidates.rows),
        stride_(InProductSteps(count_)),
        sums_(count_ * stride_ * kNumberBytes),
        alpha_(y.cols * stride_ * kNumberBytes) {
    AddRows();
    AddRidge(chosen.ridge + chosen.jitter);
    Invert();
  }

  /// Places among the candidates, the most needed first.
  std::vector<int64_t> Order() {
    std::vector<int64_t> alive(static_cast<size_t>(count_));
    std::iota(alive.begin(), alive.end(), int64_t{0});
    std::vector<int64_t> order;
    std::vector<double> column(static_cast<size_t>(count_));
    for (int64_t left = count_; left > 0; --left) {
      StopPoint();
      const int64_t least = LeastNeeded(left);
      order.push_back(alive[static_cast<size_t>(least)]);
      Drop(least, left, column);
      alive[static_cast<size_t>(least)] = alive[static_cast<size_t>(left - 1)];
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

 private:
  double* Row(int64_t i) { return sums_.As<double>().data() + i * stride_; }
  double* Alpha(int64_t c) { return alpha_.As<double>().data() + c * stride_; }
  double WeightOf(int64_t row) const {
    return options_.sample_weights.empty() ? 1 : options_.sample_weights[static_cast<size_t>(row)];
  }

  // Less H, and K'y.
  void AddRows() {
    const AlignedBuffer chunk(count_ * kRowsOfSums * kNumberBytes);
    for (int64_t first = 0; first < y_.rows; first += kRowsOfSums) {
      StopPoint();
      const int64_t rows = std::min(kRowsOfSums, y_.rows - first);
      cpu::ColumnRows columns = rows_.columns();
      columns.columns += first;
      RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          double* const kernel = chunk.As<double>().data() + i * kRowsOfSums;
          cpu::SymmetricKernels().distances(centres_.Row(i), columns, rows, shape_.p, kernel);
          cpu::SymmetricKernels().kernels(kernel, rows, shape_, kernel);
          std::fill(kernel + rows, kernel + kRowsOfSums, 0.0);
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < y_.cols; ++c) {
              Alpha(c)[i] += WeightOf(first + r) * kernel[r] * y_.Row<double>(first + r)[c];
            }
            kernel[r] *= std::sqrt(WeightOf(first + r));
          }
        }
      });
      RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
        const double* const all = chunk.As<double>().data();
        cpu::SymmetricKernels().products({all + begin * kRowsOfSums, kRowsOfSums, all, kRowsOfSums, Row(begin), stride_,
                                          end - begin, count_, kRowsOfSums, /*subtract=*/true});
      });
    }
  }

  void AddRidge(double ridge) {
    RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
      const AlignedBuffer buffer(centres_.columns().stride * kNumberBytes);
      double* const kernel = buffer.As<double>().data();
      for (int64_t i = begin; i < end; ++i) {
        centres_.Distances(i, count_, kernel);
        cpu::SymmetricKernels().kernels(kernel, count_, shape_, kernel);
        for (int64_t j = 0; j < count_; ++j) {
          Row(i)[j] = ridge * kernel[j] - Row(i)[j];
        }
      }
    });
  }

  // Centres that stand for one another have no H^-1: a little on the diagonal gives them one, in which they are the
  // least needed.
  void Invert() {
    double largest = 0;
    for (int64_t i = 0; i < count_; ++i) {
      largest = std::max(largest, Row(i)[i]);
    }
    Cholesky<double> factor(count_, 0, options_.threads, /*inverse=*/true);
    for (double addition = kFirstAddition;; addition *= 10) {
      for (int64_t i = 0; i < count_; ++i) {
        for (int64_t j = 0; j <= i; ++j) {
          factor.Panel(0)[TrianglePlace(i, j)] = Row(i)[j] / largest + (i == j ? addition : 0);
        }
      }
      if (addition >= 1 || factor.Factorise(kLeastPivotOfSums)) {
        break;
      }
    }
    const AlignedBuffer turned(count_ * stride_ * kNumberBytes);
    for (int64_t i = 0; i < count_; ++i) {
      for (int64_t j = i; j < count_; ++j) {
        turned.As<double>()[static_cast<size_t>(i * stride_ + j)] = factor.InverseRow(i)[j * cpu::kPanelRows];
      }
    }
    const double* const all = turned.As<double>().data();
    RunParts(options_.threads, count_, [&](int64_t begin, int64_t end) {
      cpu::SymmetricKernels().products({all + begin * stride_, stride_, all, stride_, Row(begin), stride_, end - begin,
                                        count_, stride_, /*subtract=*/false});
    });
    const AlignedBuffer wanted(y_.cols * stride_ * kNumberBytes);
    for (int64_t c = 0; c < y_.cols; ++c) {
      std::transform(Alpha(c), Alpha(c) + count_, wanted.As<double>().data() + c * stride_,
                     [&](double sum) { return sum / largest; });
    }
    cpu::SymmetricKernels().products({wanted.As<double>().data(), stride_, Row(0), stride_, Alpha(0), stride_, y_.cols,
                                      count_, stride_, /*subtract=*/false});
  }

  int64_t LeastNeeded(int64_t left) {
    int64_t least = 0;
    double least_growth = INFINITY;
    for (int64_t i = 0; i < left; ++i) {
      double squares = 0;
      for (int64_t c = 0; c < y_.cols; ++c) {
        squares += Alpha(c)[i] * Alpha(c)[i];
      }
      if (const double growth = squares / Row(i)[i]; growth < least_growth) {
        least = i;
        least_growth = growth;
      }
    }
    return least;
  }

  // Of the first `left` ones; the last takes its place. The lower triangle alone is kept up.
  void Drop(int64_t gone, int64_t left, std::vector<double>& column) {
    for (int64_t i = 0; i < left; ++i) {
      column[static_cast<size_t>(i)] = i < gone ? Row(gone)[i] : Row(i)[gone];
    }
    const double pivot = column[static_cast<size_t>(gone)];
    const double* const of_gone = column.data();
    for (int64_t i = 0; i < left; ++i) {
      double* const row = Row(i);
      const double factor = of_gone[i] / pivot;
      for (int64_t j = 0; j <= i; ++j) {
        row[j] -= factor * of_gone[j];
      }
    }
    const int64_t last = left - 1;
    for (int64_t c = 0; c < y_.cols; ++c) {
      const double factor = Alpha(c)[gone] / pivot;
      for (int64_t i = 0; i < left; ++i) {
        Alpha(c)[i] -= factor * of_gone[i];
      }
      Alpha(c)[gone] = Alpha(c)[last];
    }
    for (int64_t i = 0; i < gone; ++i) {
      Row(gone)[i] = Row(last)[i];
    }
    for (int64_t i = gone + 1; i < last; ++i) {
      Row(i)[gone] = Row(last)[i];
    }
    Row(gone)[gone] = Row(last)[last];
  }

  ConstMatrixView y_;
  const KernelMachineOptions& options_;
  cpu::KernelShape shape_;
  KernelRows rows_;
  KernelRows centres_;
  int64_t count_;
  int64_t stride_;
  AlignedBuffer sums_;   // less H, H, H^-1
  AlignedBuffer alpha_;  // output by output; K'y before
};

// Rows that are asked, and those that teach.
struct PruneFold {
  std::vector<int64_t> asked;
  std::vector<int64_t> teach;
};

std::vector<PruneFold> FoldsOf(int64_t rows, const KernelMachineOptions& options) {
  std::vector<int64_t> fold_of(static_cast<size_t>(rows));
  int64_t folds = kFolds;
  if (!options.times.empty()) {
    folds = 1;
    const double latest = options.times[static_cast<size_t>(rows - rows / kFolds)];
    std::transform(options.times.begin(), options.times.end(), fold_of.begin(),
                   [&](double time) { return time >= latest ? 0 : -1; });
  } else {
    std::map<int64_t, int64_t> places;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t group = options.groups.empty() ? i : options.groups[static_cast<size_t>(i)];
      fold_of[static_cast<size_t>(i)] = places.try_emplace(group, std::ssize(places)).first->second;
    }
    folds = std::min(folds, std::ssize(places));
    std::vector<int64_t> turns(places.size());  // at random: rows may come in turns of their own
    std::iota(turns.begin(), turns.end(), int64_t{0});
    Random(0, kFoldStream).Shuffle(std::span(turns));
    std::transform(fold_of.begin(), fold_of.end(), fold_of.begin(),
                   [&](int64_t place) { return turns[static_cast<size_t>(place)] % kFolds; });
  }
  std::vector<PruneFold> found(static_cast<size_t>(folds));
  for (int64_t f = 0; f < folds; ++f) {
    for (int64_t i = 0; i < rows; ++i) {
      PruneFold& fold = found[static_cast<size_t>(f)];
      (fold_of[static_cast<size_t>(i)] == f ? fold.asked : fold.teach).push_back(i);
    }
  }
  std::erase_if(found, [](const PruneFold& fold) { return fold.asked.empty() || fold.teach.empty(); });
  return found;
}

// What rows that teach say of those that are asked.
class FoldErrors {
 public:
  FoldErrors(ConstMatrixView x, ConstMatrixView y, PruneFold fold, const KernelMachine& chosen,
             const KernelMachineOptions& options)
      : fold_(std::move(fold)),
        x_(ChosenRows(x, fold_.teach)),
        y_(ChosenRows(y, fold_.teach)),
        asked_x_(ChosenRows(x, fold_.asked)),
        asked_y_(ChosenRows(y, fold_.asked)),
        chosen_(chosen),
        options_(options) {
    for (const int64_t row : options.sample_weights.empty() ? std::vector<int64_t>() : fold_.teach) {
      weights_.push_back(options.sample_weights[static_cast<size_t>(row)]);
    }
    options_.sample_weights = weights_;
    options_.groups = {};
    options_.times = {};
    for (const int64_t row : fold_.asked) {
      asked_weights_.push_back(options.sample_weights.empty() ? 1 : options.sample_weights[static_cast<size_t>(row)]);
    }
  }

  int64_t rows() const { return x_.rows(); }

  /// The sum of squares with `centres` of all rows that teach, evenly spread.
  double Whole(int64_t centres) const {
    if (centres >= rows()) {
      return SquaresOf(SolveKernels(x_.view(), y_.view(), chosen_, options_), x_.view());
    }
    return WithCentres(EvenPlaces(rows(), centres));
  }

  void FindOrder() {
    order_ =
        CentresByNeed(x_.view(), y_.view(), EvenPlaces(rows(), std::min(rows(), kMostCandidates)), chosen_, options_);
  }
  int64_t candidates() const { return std::ssize(order_); }

  double WithMostNeeded(int64_t count) const {
    std::vector<int64_t> centres(order_.begin(), order_.begin() + count);
    std::sort(centres.begin(), centres.end());
    return WithCentres(centres);
  }

 private:
  double WithCentres(const std::vector<int64_t>& centres) const {
    const KernelMachine machine = SolveCentres(x_.view(), y_.view(), centres, chosen_, options_);
    return machine.alpha.empty() ? INFINITY : SquaresOf(machine, ChosenRows(x_.view(), centres).view());
  }

  double SquaresOf(const KernelMachine& machine, ConstMatrixView centres) const {
    const KernelRows of_centres(centres, machine.feature_weights, machine.kind.p, options_.threads);
    const KernelRows asked(asked_x_.view(), machine.feature_weights, machine.kind.p, options_.threads);
    std::vector<double> squares(static_cast<size_t>(asked_x_.rows()));
    RunParts(options_.threads, asked_x_.rows(), [&](int64_t begin, int64_t end) {
      const AlignedBuffer buffer(of_centres.columns().stride * kNumberBytes);
      double* const kernel = buffer.As<double>().data();
      for (int64_t i = begin; i < end; ++i) {
        cpu::SymmetricKernels().distances(asked.Row(i), of_centres.columns(), centres.rows, machine.kind.p, kernel);
        cpu::SymmetricKernels().kernels(kernel, centres.rows, {machine.kind.p, machine.kind.power, machine.scale},
                                        kernel);
        for (int64_t c = 0; c < asked_y_.cols(); ++c) {
          double error = asked_y_.Row<double>(i)[c];
          for (int64_t k = 0; k < centres.rows; ++k) {
            error -= kernel[k] * machine.alpha.Row<double>(k)[c];
          }
          squares[static_cast<size_t>(i)] += asked_weights_[static_cast<size_t>(i)] * error * error;
        }
      }
    });
    return std::accumulate(squares.begin(), squares.end(), 0.0);
  }

  PruneFold fold_;
  Matrix x_;
  Matrix y_;
  Matrix asked_x_;
  Matrix asked_y_;
  std::vector<double> weights_;
  std::vector<double> asked_weights_;
  const KernelMachine& chosen_;
  KernelMachineOptions options_;
  std::vector<int64_t> order_;
};

// Centres that are enough, and how much the error grows with them; as many as there are candidates: too few can go.
std::pair<int64_t, double> EnoughCentres(const std::vector<FoldErrors>& folds, double whole, double share) {
  int64_t most = folds.front().candidates();
  for (const FoldErrors& fold : folds) {
    most = std::min(most, fold.candidates());
  }
  for (double wanted = kFewestKept; wanted < static_cast<double>(most); wanted *= kStepOfCentres) {
    const auto count = static_cast<int64_t>(wanted);
    double squares = 0;
    for (const FoldErrors& fold : folds) {
      squares += fold.WithMostNeeded(count);
    }
    if (squares <= (1 + share) * whole) {
      return {count, whole > 0 ? squares / whole - 1 : 0};
    }
  }
  return {most, 0};
}

}  // namespace

std::vector<int64_t> CentresByNeed(ConstMatrixView x, ConstMatrixView y, const std::vector<int64_t>& candidates,
                                   const KernelMachine& chosen, const KernelMachineOptions& options) {
  const Matrix some = ChosenRows(x, candidates);
  std::vector<int64_t> order = NeededCentres(x, y, some.view(), chosen, options).Order();
  std::transform(order.begin(), order.end(), order.begin(),
                 [&](int64_t place) { return candidates[static_cast<size_t>(place)]; });
  return order;
}

PrunedCentres PruneCentres(ConstMatrixView x, ConstMatrixView y, int64_t centres, const KernelMachine& chosen,
                           const KernelMachineOptions& options, double share) {
  PrunedCentres pruned;
  if (x.rows < kFewestRows) {
    return pruned;
  }
  std::vector<FoldErrors> folds;
  double whole = 0;
  int64_t teach = 1;
  for (PruneFold& fold : FoldsOf(x.rows, options)) {
    folds.emplace_back(x, y, std::move(fold), chosen, options);
    whole += folds.back().Whole(centres >= x.rows ? folds.back().rows() : centres);
    folds.back().FindOrder();
    teach = std::max(teach, folds.back().rows());
  }
  if (folds.empty()) {
    return pruned;
  }
  const auto [enough, growth] = EnoughCentres(folds, whole, share);
  // All rows need more than a part of them did.
  const int64_t kept = (enough * x.rows + teach - 1) / teach;
  const int64_t candidates = std::min(x.rows, kMostCandidates);
  if (kept >= std::min(candidates, centres)) {
    return pruned;
  }
  const std::vector<int64_t> order = CentresByNeed(x, y, EvenPlaces(x.rows, candidates), chosen, options);
  pruned.kept.assign(order.begin(), order.begin() + kept);
  std::sort(pruned.kept.begin(), pruned.kept.end());
  pruned.growth = growth;
  return pruned;
}

}  // namespace lamina
