// The table of labels.
#include "lamina/settings/setting_labels.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace lamina {
namespace {

struct Label {
  std::string_view setting;
  const char* text;
};

// Settings that their name would not explain.
constexpr Label kLabels[] = {{"data", "Dataset"},
                             {"drop", "Dropped columns"},
                             {"task", "Tas&k"},
                             {"header", "First line is names"},
                             {"header-line", "Line of the names, 0: found"},
                             {"around", "Titles, units, sums and notes"},
                             {"decimal", "Decimal sign"},
                             {"date-order", "Order of dates"},
                             {"use", "Columns used all the same"},
                             {"select", "Columns of numbers used"},
                             {"text-columns", "Columns read as text"},
                             {"missing-values", "More marks of missing values"},
                             {"encoding", "Encoding of the text"},
                             {"sheet", "Sheet of a workbook"},
                             {"strict", "Odd cells are errors"},
                             {"missing", "Missing &values"},
                             {"unseen", "Unseen categories"},
                             {"samples", "Number of d&ata samples"},
                             {"random-samples", "Choose them at random"},
                             {"memory", "Memory for encoded data"},
                             {"split", "Split: training, validation, testing"},
                             {"stratify", "Split every &class alike"},
                             {"split-by", "Split &by column"},
                             {"test", "Test rows in a file"},
                             {"validation", "Validation rows in a file"},
                             {"derive", "Derived columns"},
                             {"series-by", "Series are rows with equal"},
                             {"order-by", "In the order of"},
                             {"class-weights", "Weights of classes"},
                             {"weight-column", "Weight of each row"},
                             {"soft-target", "Soft targets (a teacher's)"},
                             {"cost-matrix", "Cost of mistakes"},
                             {"baseline", "Naive guess to beat"},
                             {"class-map", "Classes made of values"},
                             {"encode", "&Encoding of text"},
                             {"min-count", "Rows of a category, at least"},
                             {"max-categories", "Categories of a column, at most"},
                             {"text", "Free text"},
                             {"codes", "Numbers that name something"},
                             {"bins", "Bins of numbers"},
                             {"scale", "Scaling of numbers"},
                             {"target-scale", "Scaling of the target"},
                             {"hidden", "Neurons in hidden layers"},
                             {"output-activation", "&Output activation"},
                             {"residual", "Layers add their input to their output"},
                             {"bias", "&Bias"},
                             {"gain", "Sigmoidal &gain"},
                             {"threshold", "Thr&eshold value"},
                             {"init", "We&ights at the start"},
                             {"zero-last", "Output layer starts at zero"},
                             {"number-embedding", "Numbers as waves"},
                             {"waves", "Waves of a number"},
                             {"wave-scale", "Frequencies at the start"},
                             {"embedding-size", "Numbers that waves become"},
                             {"category-embedding", "Numbers that categories become"},
                             {"embedding-rate", "Rate of embeddings, a share"},
                             {"mixup", "Mixing of rows"},
                             {"normalization", "Normalization of layers"},
                             {"bag", "Keep the folds' networks"},
                             {"front-scale", "Rate of the inputs' factors"},
                             {"dtype", "Number type"},
                             {"precision", "Prec&ision"},
                             {"loss", "&Loss"},
                             {"dropout", "Dropout, a share"},
                             {"bias-rate", "Rate of biases, a share"},
                             {"optimizer", "&Optimizer"},
                             {"learning-rate", "Learning &rate"},
                             {"momentum", "&Momentum factor"},
                             {"weight-decay", "Regularization factor"},
                             {"clip-norm", "Largest gradient norm"},
                             {"epochs", "&Epochs"},
                             {"batch", "&Batch"},
                             {"shards", "Shards of a batch"},
                             {"shard-data", "Shards own the rows"},
                             {"gradients", "Gradients between ranks"},
                             {"schedule", "S&chedule"},
                             {"warmup", "Warm-up, a share of all steps"},
                             {"patience", "Earl&y stopping, epochs"},
                             {"patience-waves", "Early stopping, waves"},
                             {"min-improvement", "Smallest improvement"},
                             {"keep", "Weights &kept"},
                             {"quantize-aware", "Epochs in 8-bit integers"},
                             {"monitor", "What tells the best epoch"},
                             {"calibrate", "Calibrate probabilities"},
                             {"intervals", "Intervals that hold a share of"},
                             {"metrics", "Metrics of the test rows"},
                             {"folds", "Folds"},
                             {"fold", "The fold to train"},
                             {"group", "Rows that stay together"},
                             {"out-of-fold", "File of out-of-fold answers"},
                             {"shuffle", "Shuffle every epoch"},
                             {"seed", "Seed"},
                             {"backend", "B&ackend"},
                             {"vary", "What is tried"},
                             {"random", "Trials at random, 0: all"},
                             {"halving", "One trial in this many goes on"},
                             {"first-epochs", "Epochs of the first stage"},
                             {"metric", "Compare b&y"},
                             {"at-once", "Trials at once"},
                             {"time-limit", "Time limit (90s, 10m)"},
                             {"effort", "Effort"},
                             {"state", "Folder of a best run"},
                             {"nested", "Folds that judge a best run"},
                             {"ensemble", "Networks that answer together"},
                             {"start-from", "Starts from the model"},
                             {"freeze", "Layers left as they are"},
                             {"ridge-c", "Ridge: C"},
                             {"ridge", "Ridge"},
                             {"feature-weights", "Weights of columns"},
                             {"feature-rounds", "Rounds of column weights"},
                             {"fit-seconds", "Seconds to choose in"},
                             {"prune", "Loss that fewer neurons may cost"},
                             {"k", "Neighbors, k"},
                             {"hidden-weights", "Random hidden weights"},
                             {"centres", "First centers"},
                             {"overlap", "Overlap of centers"},
                             {"target-values", "Target values of classes"},
                             {"beta1", "Decay of the mean (beta 1)"},
                             {"beta2", "Decay of the square (beta 2)"},
                             {"overwrite", "Replace other models"}};

// "weight-column": "Weight column".
std::string NameInWords(std::string_view setting) {
  std::string words(setting);
  std::replace(words.begin(), words.end(), '-', ' ');
  if (!words.empty()) {
    words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  }
  return words;
}

}  // namespace

std::string SettingLabel(std::string_view setting) {
  const auto* const found = std::find_if(std::begin(kLabels), std::end(kLabels),
                                         [&](const Label& label) { return label.setting == setting; });
  return found == std::end(kLabels) ? NameInWords(setting) : found->text;
}

std::string PlainSettingLabel(std::string_view setting) {
  std::string label = SettingLabel(setting);
  std::erase(label, '&');
  return label;
}

}  // namespace lamina
