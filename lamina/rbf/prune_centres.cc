// How many centers are enough, by rows that had no part in choosing them.
#include "lamina/rbf/prune_centres.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "lamina/base/random.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/kernel_solve.h"
#include "lamina/rbf/needed_centres.h"
#include "lamina/rbf/nystroem.h"

namespace lamina {
namespace {

constexpr int64_t kFolds = 4;
constexpr uint64_t kFoldStream = 0xF01D5;
constexpr int64_t kFewestRows = 20;  // of which some may be asked
constexpr int64_t kMostCandidates = 1500;
constexpr int64_t kFewestKept = 5;
constexpr double kStepOfCentres = 1.4142135623730951;

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
    folds = std::min<int64_t>(folds, std::ssize(places));
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
    const Matrix errors = ErrorsOf(machine, centres, asked_x_.view(), asked_y_.view(), options_.threads);
    double sum = 0;
    for (int64_t i = 0; i < errors.rows(); ++i) {
      const std::span row(errors.Row<double>(i), static_cast<size_t>(errors.cols()));
      sum += asked_weights_[static_cast<size_t>(i)] * std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    }
    return sum;
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

// Centers that are enough, and how much the error grows with them; as many as there are candidates: too few can go.
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

double PruningOperations(int64_t rows, double machine) {
  const auto candidates = static_cast<double>(std::min(rows, kMostCandidates));
  // The quarters' whole machines; the sums of all five, and machines of ever more centers, together less than twice the
  // largest.
  const double squares = static_cast<double>(rows) * candidates * candidates;
  return kFolds * machine * 3 / 4 + 2 * (kFolds + 1) * squares + 4 * kFolds * squares;
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
