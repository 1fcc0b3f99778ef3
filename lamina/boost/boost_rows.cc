// Numbers become bins once; trees then ask about these.
#include "lamina/boost/boost_rows.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>

#include "lamina/base/convert.h"
#include "lamina/boost/column_sums.h"

namespace lamina {

BinsWithSums::BinsWithSums(const Matrix& x, const BoostOptions& options)
    : columns(BinColumns(x.view(), options.bins, options.threads)),
      sums(BinColumns(SumsOf(x, options.sums).view(), std::min(options.bins, kBinsOfSums), options.threads,
                      SurelyApart(options.sums, x.dtype()))) {}

ColumnBins BinsWithSums::All() const {
  ColumnBins all = columns;
  std::ranges::copy(sums.cuts, std::back_inserter(all.cuts));
  return all;
}

BoostRows::BoostRows(const Dataset& data, const BinsWithSums& bins, const ScoreForm& form, const BoostOptions& options)
    : count(data.size()) {
  if (count == 0) {
    return;
  }
  codes = BinsOf(bins.columns, data.features.view(), options.threads);
  std::ranges::copy(BinsOf(bins.sums, SumsOf(data.features, options.sums).view(), options.threads),
                    std::back_inserter(codes));
  Matrix all(count, form.outputs, DType::kF64);
  ConvertMatrix(data.targets.view(), all.view());
  for (int64_t i = 0; i < count; ++i) {
    const double* const end = all.Row<double>(i) + form.outputs;  // one score is that of the last target
    targets.insert(targets.end(), end - form.scores(), end);
  }
  weights = data.sample_weights;
}

void BoostRows::BeginAt(const std::vector<double>& start) {
  scores.clear();
  for (int64_t i = 0; i < count; ++i) {
    scores.insert(scores.end(), start.begin(), start.end());
  }
}

void BoostRows::Add(const Tree& tree) {
  for (int64_t i = 0; i < count; ++i) {
    const TreeNode* node = tree.data();
    while (node->column >= 0) {
      node = &tree[static_cast<size_t>(Code(node->column, i) > node->cut ? node->yes : node->no)];
    }
    double* const of_row = &scores[static_cast<size_t>(i) * node->value.size()];
    std::ranges::transform(node->value, std::span(of_row, node->value.size()), of_row, std::plus<>());
  }
}

double BoostRows::Loss(const ScoreForm& form) const {
  std::vector<double> losses(static_cast<size_t>(count));
  form.LossesOf(scores.data(), targets.data(), count, losses.data());
  double sum = 0;
  double weight = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += Weight(i) * losses[static_cast<size_t>(i)];
    weight += Weight(i);
  }
  return sum / weight;
}

}  // namespace lamina
