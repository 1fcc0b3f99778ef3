// Attempts, judged by rows that did not make them.
#include "lamina/rbf/radius_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/mean_distance.h"

namespace lamina {
namespace {

constexpr double kLeastShare = 0.01;  // of the rows that may be centers, for a radius to be looked at
constexpr double kMostShare = 0.6;    // and more than kManyCentres only up to a tenth
constexpr double kMostShareOfMany = 0.1;
constexpr int64_t kManyCentres = 4096;
constexpr int64_t kHeldOut = 5;           // every fifth row answers where there are no validation rows
constexpr int64_t kEnoughToJudge = 2000;  // validation rows; where they are fewer, training rows are judged, too
constexpr int64_t kJudgingFolds = 3;
constexpr int kMostHalvings = 40;
constexpr double kRefinements[] = {0.5, 0.25, 0.125};  // steps, in powers of 2, to either side of the best radius
constexpr double kOverlaps[] = {0.5, 2, 4};            // times that of the options

// The attempts of a search, and the best of them.
class RadiusFinder {
 public:
  RadiusFinder(const Dataset& train, const Dataset& validation, int64_t classes, FsvcOptions options,
               const Backend& backend)
      : train_(train), validation_(validation), classes_(classes), options_(std::move(options)), backend_(backend) {
    fewest_ = static_cast<int64_t>(std::ceil(kLeastShare * static_cast<double>(train.size())));
    options_.novelty.most_centres = MostCentres(train.size());
    if (validation.size() < kEnoughToJudge) {
      MakeFolds();
    }
  }

  RadiusSearch Run(bool any_overlap) {
    double radius = 4 * MeanDistance(options_.novelty.synapse, train_.features.view(), 1);
    if (!(radius > 0) || !std::isfinite(radius)) {
      throw Error(ErrorCode::kInvalidArgument, "all training rows are the same, so there is no radius to find");
    }
    const double usual = options_.novelty.overlap;
    for (int i = 0; i < kMostHalvings && !Stopped(); ++i, radius /= 2) {
      if (Attempt(radius, usual) > options_.novelty.most_centres) {
        break;
      }
    }
    Refine();
    if (any_overlap) {
      const RadiusTrial before = Best();
      for (const double times : kOverlaps) {
        if (times * usual <= NoveltyOptions::kLargestOverlap) {
          Attempt(before.radius, times * usual);
        }
      }
      if (Best().overlap != before.overlap) {
        Refine();
      }
    }
    search_.complete = !Stopped();
    search_.radius = Best().radius;
    search_.overlap = Best().overlap;
    return std::move(search_);
  }

 private:
  struct Fold {
    Dataset others;
    Dataset held_out;
  };

  bool Stopped() const { return options_.novelty.stop_requested && options_.novelty.stop_requested(); }

  int64_t MostCentres(int64_t rows) const {
    const auto count = static_cast<double>(rows);
    return std::max({std::min(static_cast<int64_t>(kMostShare * count), kManyCentres),
                     static_cast<int64_t>(kMostShareOfMany * count), 2 * classes_});
  }

  // None where a class would be missing in one of them.
  void MakeFolds() {
    for (int64_t fold = 0; fold < kJudgingFolds; ++fold) {
      std::vector<int64_t> kept;
      std::vector<int64_t> held_out;
      for (int64_t row = 0; row < train_.size(); ++row) {
        (row % kJudgingFolds == fold ? held_out : kept).push_back(row);
      }
      folds_.push_back({ChosenRows(train_, kept), ChosenRows(train_, held_out)});
      const std::vector<int32_t>& labels = folds_.back().others.labels;
      if (std::ssize(std::set<int32_t>(labels.begin(), labels.end())) < classes_) {
        folds_.clear();
        return;
      }
    }
  }

  // The share of the validation rows that are right. With folds, also of the training rows by the networks of the
  // others; none where a fold has too many centers.
  std::optional<double> Judge(const Network& network) const {
    const auto rows_right = [&](const Network& answering, const Dataset& rows) {
      return AccuracyOf(answering, rows, backend_) * static_cast<double>(rows.size());
    };
    double right = rows_right(network, validation_);
    auto rows = static_cast<double>(validation_.size());
    for (const Fold& fold : folds_) {
      FsvcOptions options = options_;
      options.novelty.most_centres = MostCentres(fold.others.size());
      const FsvcResult result = TrainFsvc(fold.others, classes_, options, backend_);
      if (!result.complete) {
        return std::nullopt;
      }
      right += rows_right(result.network, fold.held_out);
      rows += static_cast<double>(fold.held_out.size());
    }
    return right / rows;
  }

  void Refine() {
    for (const double step : kRefinements) {
      const RadiusTrial middle = Best();
      for (const double side : {-step, step}) {
        Attempt(middle.radius * std::exp2(side), middle.overlap);
      }
    }
  }

  // The number of centers; more than the most where there were so many that no network was made.
  int64_t Attempt(double radius, double overlap) {
    if (Stopped()) {
      return 0;
    }
    options_.novelty.activation = options_.novelty.activation.WithRadius(radius);
    options_.novelty.overlap = overlap;
    const FsvcResult result = TrainFsvc(train_, classes_, options_, backend_);
    if (const std::optional<double> accuracy = result.complete ? Judge(result.network) : std::nullopt) {
      search_.trials.push_back({radius, overlap, result.centres, *accuracy});
    }
    return result.centres;
  }

  // The most accurate one, of those with enough centers where there are such; of equal ones that with the fewest.
  RadiusTrial Best() const {
    RadiusTrial best;
    for (const RadiusTrial& trial : search_.trials) {
      const auto rank = [&](const RadiusTrial& each) {
        return std::tuple(each.centres >= fewest_, each.accuracy, -each.centres);
      };
      best = best.centres == 0 || rank(trial) > rank(best) ? trial : best;
    }
    return best;
  }

  const Dataset& train_;
  const Dataset& validation_;
  int64_t classes_;
  FsvcOptions options_;
  const Backend& backend_;
  int64_t fewest_ = 0;
  std::vector<Fold> folds_;
  RadiusSearch search_;
};

}  // namespace

RadiusSearch FindRadius(const Dataset& train, const Dataset& validation, int64_t classes, FsvcOptions options,
                        bool any_overlap, const Backend& backend) {
  if (train.size() < 2) {  // one row has no distances
    RadiusSearch search;
    search.radius = 1;
    search.overlap = options.novelty.overlap;
    search.complete = true;
    return search;
  }
  if (validation.size() > 0) {
    return RadiusFinder(train, validation, classes, std::move(options), backend).Run(any_overlap);
  }
  const auto [held_out, others] = WithoutEvery(kHeldOut, train);
  const std::set<int32_t> taught(others.labels.begin(), others.labels.end());
  const bool enough = std::ssize(taught) == classes && held_out.size() > 0;
  return RadiusFinder(enough ? others : train, enough ? held_out : train, classes, std::move(options), backend)
      .Run(any_overlap);
}

FoundFsvc FitFsvc(const Dataset& train, const Dataset& validation, const std::vector<std::string>& class_names,
                  FsvcOptions options, bool radius_open, bool overlap_open, const Backend& backend) {
  const int64_t classes = std::ssize(class_names);
  FoundFsvc found;
  if (radius_open) {
    FsvcOptions tried = options;
    tried.novelty.progress = nullptr;
    found.search = FindRadius(train, validation, classes, std::move(tried), overlap_open, backend);
    if (!found.search.complete) {
      return found;
    }
    options.novelty.activation = options.novelty.activation.WithRadius(found.search.radius);
    options.novelty.overlap = found.search.overlap;
  }
  found.search.radius = options.novelty.activation.radius();
  found.search.overlap = options.novelty.overlap;
  found.result = TrainFsvc(train, classes, options, backend);
  const bool given = found.result.complete && !radius_open;
  if (const int64_t none = given ? ClassWithoutCentre(found.result.network) : -1; none >= 0) {
    const double usual = MeanDistance(options.novelty.synapse, train.features.view(), 1) / formulas::Triangle::kWidth;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("class '{}' has no center among the {}: the radius {:g} is too large",
                            class_names[static_cast<size_t>(none)], found.result.centres, found.search.radius),
                {.remedy = fmt::format("Try --radius {:.3g}, or leave it out: then it is searched for.",
                                       std::min(found.search.radius / 4, usual))});
  }
  return found;
}

}  // namespace lamina
