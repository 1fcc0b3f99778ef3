// Which method, and its own few settings.
#include "lamina/settings/method_rows.h"

#include <fmt/format.h>

#include "lamina/base/text.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/effort.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"

namespace lamina {

namespace {

using S = TrainSettings;
using Row = Setting<S>;

constexpr NumberRange kNestedFolds{.low = 0, .high = 20};

bool IsBest(const S& s) { return s.effort == NameOf(Effort::kBest, kEfforts); }

// For people who know none of the others.
std::vector<Row> EffortRows() {
  return {Row("effort", &S::effort,
              fmt::format("How long to look for the best model, instead of all settings of network, method and "
                          "training. quick: one network in tenths of a second. normal: what --method auto takes. "
                          "best: networks, kernel machines and others on {} folds, which answer together, with "
                          "shares by out-of-fold answers",
                          kFoldsOfBest),
              {.choices = [] { return NamesIn(kEfforts); },
               .trials = InTrials::kSame,
               .of_one_run = true,
               .basic = "quick, normal, or best: many models together, in minutes"}),
          Row("time-limit", &S::time_limit,
              fmt::format("--effort best: begin no other model after this time (90s, 10m, 1h), and answer with those "
                          "so far; not given: {:g}s",
                          kLimitOfBest_seconds),
              {.effect = &IsBest, .trials = InTrials::kSame, .of_one_run = true}),
          Row("state", &S::state,
              "--effort best: keep trained models in this folder. The same command goes on from there; several, on "
              "all hosts that see the folder, share the models",
              {.effect = &IsBest, .trials = InTrials::kOutside, .of_one_run = true, .decides_writing = true}),
          Row("nested", &S::nested,
              "--effort best: measure it on this many folds without a part in any choice, each with the time limit "
              "again; 0: no, and its figures are optimistic",
              {.range = kNestedFolds, .effect = &IsBest, .trials = InTrials::kSame, .of_one_run = true})};
}

// Methods whose hidden neurons are placed or drawn, and solved for.
std::vector<Row> NeuronRows() {
  return {
      Row("method", &S::method,
          fmt::format("How the model is found. backpropagation: what all other settings are about. fsvc (all rows) "
                      "and sfsvc (class by class): centers from one pass over the training rows. elm: random hidden "
                      "neurons, output weights by ridge regression. knn: the nearest training rows answer, which the "
                      "model keeps. rfm: a kernel machine with neurons at all training rows, solved output weights, "
                      "and learned weights of the columns. boost: boosted trees, as a network. auto: rfm for a table "
                      "of up to {} training rows if no "
                      "setting of a network is given, else backpropagation",
                      WithThousands(kMostRowsOfKernels)),
          {.choices = [] { return NamesIn(kMethods); }}),
      Row("neuron", &S::neuron,
          "fsvc, sfsvc, elm, rfm: the hidden neuron, as in --layers; auto: l1-triangle for fsvc, l2sq-triangle for "
          "sfsvc, dot-abs for elm (the authors' has no bias: dot-abs-nobias). rfm: l1 or l2 with laplace or "
          "gaussian; auto: the best for left-out rows of l1-laplace, l2-laplace and their powers 0.7 and 1.4",
          {.effect = [](const S& s) { return MethodReads(s, "neuron"); }}),
      Row("radius", &S::radius,
          "fsvc, sfsvc, elm: radius of the triangle or gaussian, in units of the distance; not given: searched for "
          "with the validation rows (elm: by the mean distance). rfm: L in exp(-(distance / L)^power); not given: "
          "the best multiple of the median distance",
          {.range = kPositive, .effect = [](const S& s) { return MethodReads(s, "radius"); }, .logarithmic = true}),
      Row("overlap", &S::overlap,
          "fsvc, sfsvc: a row becomes a center where activations of the centers so far sum to less than this; not "
          "given: 1, or searched for with the radius",
          {.range = NumberRange{.low = 0, .high = NoveltyOptions::kLargestOverlap, .above_low = true},
           .effect = [](const S& s) { return MethodReads(s, "overlap"); },
           .logarithmic = true}),
      Row("hidden-weights", &S::hidden_weights,
          "elm: weights of dot neurons are drawn from -1 to 1: uniform, signs, or rounded to 2bit or 8bit",
          {.choices = [] { return NamesIn(kHiddenWeights); },
           .effect = [](const S& s) { return MethodReads(s, "hidden-weights"); }}),
      Row("centres", &S::centres,
          "elm, backpropagation: centers of the first layer's distance neurons, or where they start. rows: random "
          "rows; k-means (for l2) or k-medians (for l1): centers of clusters of the training rows",
          {.choices = &CentreChoices, .effect = [](const S& s) { return MethodReads(s, "centres"); }}),
      Row("ridge-c", &S::ridge_c,
          "elm: C of the ridge regression, the larger the closer to the training rows; not given: chosen by leaving "
          "rows out one by one",
          {.range = kPositive, .effect = [](const S& s) { return MethodReads(s, "ridge-c"); }, .logarithmic = true})};
}

std::vector<Row> KernelRows() {
  return {
      Row("feature-weights", &S::feature_weights,
          "rfm: weights of the columns in distances. none; diagonal: one for each column, the root of the answer's "
          "mean squared slope along it; full (l2 only): one for each pair, from the products of both slopes",
          {.choices = &FeatureWeightsChoices, .effect = [](const S& s) { return MethodReads(s, "feature-weights"); }}),
      Row("feature-rounds", &S::feature_rounds,
          "rfm: rounds that learn the weights of the columns; the best one for left-out rows is kept",
          {.range = NumberRange{.low = 0, .high = 100},
           .effect = [](const S& s) { return MethodReads(s, "feature-rounds") && s.feature_weights != "none"; }}),
      Row("ridge", &S::ridge,
          "rfm: added to the kernel's diagonal, the larger the smoother; not given: chosen by leaving rows out",
          {.range = kNotNegative, .effect = [](const S& s) { return MethodReads(s, "ridge"); }, .logarithmic = true}),
      Row("fit-seconds", &S::fit_seconds,
          "rfm: no other kernel or round is tried after so many seconds; not given: all are",
          {.range = kPositive, .effect = [](const S& s) { return MethodReads(s, "fit-seconds"); }}),
      Row("prune", &S::prune,
          "rfm: drops the neurons that answers need least, for a smaller and quicker model. The mean squared error "
          "of rows without a part in it grows by at most this share; 0: none",
          {.range = NumberRange{.low = 0, .high = 1}, .effect = [](const S& s) { return MethodReads(s, "prune"); }})};
}

bool GrowsTrees(const S& s) {
  return (s.method == NameOf(Method::kBoosting, kMethods) || s.trees != kNoText) && MethodReads(s, "tree-leaves");
}

std::vector<Row> TreeRows() {
  return {
      Row("trees", &S::trees,
          fmt::format(
              "Boosted trees beside a network or a kernel machine (rfm, of up to {} rows). Rows left out say how "
              "much they count. yes; possible: where these rows can tell, and in seconds; no; auto: possible "
              "with recipe mixed, and where nothing of method and network is given",
              WithThousands(kMostRowsOfKernels)),
          {.choices =
               [] {
                 return std::vector<std::string>{std::string(kAutoText), std::string(kPossibleText),
                                                 std::string(kYesText), std::string(kNoText)};
               },
           .effect = [](const S& s) { return MethodReads(s, "trees"); }}),
      Row("tree-leaves", &S::tree_leaves,
          fmt::format("boost and --trees: leaves of a tree, which asks one question fewer; auto: {}, or {} where those "
                      "answer rows left out better (from {} training rows on)",
                      kTreeLeaves, kDeepTreeLeaves, WithThousands(kLeastRowsOfDeepTrees)),
          {.range = NumberRange{.low = 2, .high = 64}, .effect = &GrowsTrees}),
      Row("tree-pairs", &S::tree_pairs,
          fmt::format(
              "boost and --trees: pairs of columns about whose sums trees may ask, too, where such trees answer "
              "rows left out better; auto: {} (from {} training rows on)",
              kTreePairs, WithThousands(kLeastRowsOfDeepTrees)),
          {.range = NumberRange{.low = 0, .high = 20}, .effect = &GrowsTrees}),
      Row("tree-rounds", &S::tree_rounds,
          "boost and --trees: most trees; fewer are kept where they answer rows left out better",
          {.range = NumberRange{.low = 1, .high = 10'000}, .effect = &GrowsTrees}),
      Row("tree-rate", &S::tree_rate, "boost and --trees: how much of a tree counts",
          {.range = NumberRange{.low = 0, .high = 1, .above_low = true}, .effect = &GrowsTrees, .logarithmic = true})};
}

std::vector<Row> LineRows() {
  return {Row(
      "line", &S::line,
      "first: a line answers first where it leaves a thousandth of each target's variance at most, and what else "
      "answers learns what it leaves. possible: elsewhere it answers beside others, as much as rows left out say. no; "
      "auto: first with effort best, and possible where nothing of method and network is given",
      {.choices =
           [] {
             return std::vector<std::string>{std::string(kAutoText), std::string(kPossibleText),
                                             std::string(kFirstText), std::string(kNoText)};
           },
       .effect = [](const S& s) { return MethodReads(s, "line"); }})};
}

std::vector<Row> NeighbourRows() {
  return {
      Row("distance", &S::distance, "knn: distance between rows: l2, l1, or dot (the nearest have the largest product)",
          {.choices = [] { return NamesIn(kMetrics); },
           .effect = [](const S& s) { return MethodReads(s, "distance"); }}),
      Row("k", &S::k, "knn: how many nearest training rows answer, by their targets' mean",
          {.range = NumberRange{.low = 1, .high = NeighbourOptions::kMost},
           .effect = [](const S& s) { return MethodReads(s, "k"); }})};
}

// Backpropagation from another model.
std::vector<Row> StartModelRows() {
  return {Row("start-from", &S::start_from,
              "backpropagation: start from this model, with its encoding, and its layers where --layers, --hidden and "
              "--activation are not given; layers of the same place and sizes start with its weights",
              {.effect = [](const S& s) { return MethodReads(s, "start-from"); },
               .trials = InTrials::kSame,
               .reads = [](const std::string& path) { return std::vector<std::string>{path}; }}),
          Row("freeze", &S::freeze, "backpropagation: layers that keep their first weights; layer.1 is the first",
              {.effect = [](const S& s) { return MethodReads(s, "freeze"); }, .after_checkpoint = true})};
}

}  // namespace

std::vector<Row> MethodRows() {
  return JoinGroups<S>({{kMethodGroup, EffortRows()},
                        {kMethodGroup, NeuronRows()},
                        {kMethodGroup, KernelRows()},
                        {kMethodGroup, TreeRows()},
                        {kMethodGroup, LineRows()},
                        {kMethodGroup, NeighbourRows()},
                        {kMethodGroup, StartModelRows()}});
}

}  // namespace lamina
