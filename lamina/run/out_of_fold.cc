// Classes and values, row by row, as they come from the folds.
#include "lamina/run/out_of_fold.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/category_lookup.h"

namespace lamina {
namespace {

// A number as the files of answers have it.
std::string AnswerText(double value) { return fmt::format("{:.9g}", value); }

}  // namespace

std::vector<ScoredRows> OutOfFoldCollector::Take(int64_t fold, const Model& model, const Dataset& test,
                                                 const Matrix& raw) {
  const Matrix outputs = InTargetUnits(model, raw);
  if (const int64_t row = FirstNotFinite(outputs); row >= 0) {
    throw Error(ErrorCode::kBadModel, fmt::format("an answer of fold {} is not a finite number", fold),
                {.file = table_.source, .line = table_.LineOf(test.rows[static_cast<size_t>(row)])});
  }
  out_.targets = model.preprocessor.targets().answer_names();
  std::vector<ScoredRows> scored = ScoreDataset(model, raw, test);
  if (scored[0].classes > 0) {
    TakeClasses(fold, model.preprocessor.targets().class_names(), scored[0], test);
  } else {
    TakeValues(fold, scored, test);
  }
  return scored;
}

OutOfFold OutOfFoldCollector::Finish() {
  const std::vector<int64_t> rows =
      SelectRows(table_.rows, settings_.samples, settings_.random_samples, settings_.seed);
  std::map<int64_t, OutOfFold::Row> by_row;
  for (OutOfFold::Row& row : out_.rows) {
    const int64_t place = row.row;
    by_row[place] = std::move(row);
  }
  out_.rows.clear();
  for (const int64_t row : rows) {
    const auto found = by_row.find(row);
    out_.rows.push_back(found != by_row.end() ? std::move(found->second) : OutOfFold::Row{row, 0, "", "", {}});
    out_.rows.back().numbers.resize(out_.classes.empty() ? out_.targets.size() : out_.classes.size(), kNaN);
  }
  return std::move(out_);
}

std::pair<std::vector<ScoredRows>, std::vector<int64_t>> OutOfFoldCollector::FinishScores() {
  std::vector<int64_t> of_table;
  for (const OutOfFold::Row& row : out_.rows) {
    of_table.push_back(row.row);
  }
  for (ScoredRows& rows : scored_) {
    if (rows.classes == 0) {
      continue;
    }
    rows.classes = std::ssize(out_.classes);
    for (const OutOfFold::Row& row : out_.rows) {
      for (int64_t c = 0; c < rows.classes; ++c) {
        const double score = c < std::ssize(row.numbers) ? row.numbers[static_cast<size_t>(c)] : kNaN;
        rows.scores.push_back(std::isnan(score) ? (rows.probabilities ? 0 : -std::numeric_limits<double>::max())
                                                : score);
      }
    }
  }
  return {std::move(scored_), std::move(of_table)};
}

int32_t OutOfFoldCollector::ClassIndex(const std::string& name) {
  const auto found = std::find(out_.classes.begin(), out_.classes.end(), name);
  if (found == out_.classes.end()) {
    out_.classes.push_back(name);
    return static_cast<int32_t>(std::ssize(out_.classes) - 1);
  }
  return static_cast<int32_t>(found - out_.classes.begin());
}

void OutOfFoldCollector::TakeClasses(int64_t fold, const std::vector<std::string>& names, const ScoredRows& scored,
                                     const Dataset& test) {
  std::vector<int32_t> place;
  place.reserve(names.size());
  for (const std::string& name : names) {
    place.push_back(ClassIndex(name));
  }
  scored_.resize(1);
  ScoredRows& all = scored_[0];
  all.classes = scored.classes;
  all.target = scored.target;
  all.probabilities = scored.probabilities;
  const Column& target = table_.columns[static_cast<size_t>(table_.FindColumn(scored.target))];
  const CategoryView view(target, test.rows);
  for (size_t i = 0; i < scored.labels.size(); ++i) {
    OutOfFold::Row row{test.rows[i], fold, "", names[static_cast<size_t>(scored.predicted[i])], {}};
    const int32_t label = scored.labels[i];
    row.truth =
        label >= 0 ? names[static_cast<size_t>(label)] : view.names()[static_cast<size_t>(view.Code(test.rows[i]))];
    row.numbers.assign(out_.classes.size(), kNaN);
    for (size_t c = 0; c < names.size(); ++c) {
      row.numbers[static_cast<size_t>(place[c])] = scored.Score(static_cast<int64_t>(i), static_cast<int64_t>(c));
    }
    all.labels.push_back(label < 0 ? -1 : place[static_cast<size_t>(label)]);
    all.predicted.push_back(place[static_cast<size_t>(scored.predicted[i])]);
    out_.rows.push_back(std::move(row));
  }
}

void OutOfFoldCollector::TakeValues(int64_t fold, const std::vector<ScoredRows>& scored, const Dataset& test) {
  scored_.resize(scored.size());
  for (size_t i = 0; i < test.rows.size(); ++i) {
    OutOfFold::Row row{test.rows[i], fold, "", "", {}};
    for (const ScoredRows& target : scored) {
      row.truth += (row.truth.empty() ? "" : ",") + AnswerText(target.truth[i]);
      row.numbers.push_back(target.answers[i]);
    }
    out_.rows.push_back(std::move(row));
  }
  for (size_t j = 0; j < scored.size(); ++j) {
    scored_[j].target = scored[j].target;
    scored_[j].level = scored[j].level;
    scored_[j].truth.insert(scored_[j].truth.end(), scored[j].truth.begin(), scored[j].truth.end());
    scored_[j].answers.insert(scored_[j].answers.end(), scored[j].answers.begin(), scored[j].answers.end());
  }
}

std::string OutOfFold::Csv() const {
  std::string text = "row,fold";
  for (const std::string& target : targets) {
    text += "," + CsvField(target);
  }
  for (const std::string& target : classes.empty() ? targets : std::vector<std::string>()) {
    text += "," + CsvField(targets.size() == 1 ? "predicted" : "predicted_" + target);
  }
  text += classes.empty() ? "" : ",predicted";
  for (const std::string& name : classes) {
    text += "," + CsvField("p_" + name);
  }
  text += '\n';
  for (const Row& row : rows) {
    const bool values = classes.empty();
    text += fmt::format("{},{},", row.row, row.fold > 0 ? std::to_string(row.fold) : "");
    text += values ? (row.fold > 0 ? row.truth : std::string(targets.size() - 1, ','))
                   : CsvField(row.truth) + "," + CsvField(row.predicted);
    for (const double number : row.numbers) {
      text += std::isnan(number) ? "," : "," + AnswerText(number);
    }
    text += '\n';
  }
  return text;
}

std::vector<std::string> OutOfFold::RareClasses(int64_t folds) const {
  std::vector<std::string> remarks;
  if (classes.empty()) {
    return remarks;
  }
  std::map<std::string, int64_t> counts;
  for (const OutOfFold::Row& row : rows) {
    counts[row.truth] += row.fold > 0 ? 1 : 0;
  }
  for (const auto& [name, count] : counts) {
    if (count > 0 && count < folds) {
      remarks.push_back(fmt::format("class '{}' has {}, fewer than the {} folds: some of them do not test it", name,
                                    Counted(count, "row{s}"), folds));
    }
  }
  return remarks;
}

}  // namespace lamina
