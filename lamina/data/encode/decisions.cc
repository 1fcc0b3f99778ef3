// One row for every decision.
#include "lamina/data/encode/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lamina/base/list_text.h"
#include "lamina/base/text.h"
#include "lamina/data/encode/leakage.h"
#include "lamina/data/encode/telling_columns.h"

namespace lamina {
namespace {

constexpr int64_t kMostNamedAlone = 20;   // columns left out for one reason
constexpr size_t kMostPlainClasses = 10;  // more whole numbers than this are likely to be quantities

// As it can be copied into a shell.
std::string FlagFor(std::string_view flag, const std::string& name) {
  return fmt::format("{} {}", flag, ShellWord(CsvField(name)));
}

template <class T>
std::unordered_map<std::string_view, const T*> ColumnsByName(const std::vector<T>& columns) {
  std::unordered_map<std::string_view, const T*> by_name;
  for (const T& column : columns) {
    by_name.emplace(column.name, &column);
  }
  return by_name;
}

template <class T>
const T* Find(const std::unordered_map<std::string_view, const T*>& columns, const std::string& name) {
  const auto found = columns.find(name);
  return found == columns.end() ? nullptr : found->second;
}

// Text whose cells are of two words or more on average: their words may tell what the whole does not.
bool HasSeveralWords(const Column& column) {
  constexpr double kLeastWords = 2;
  double words = 0;
  for (const std::string& text : column.categories) {
    words += 1 + static_cast<double>(std::count(text.begin(), text.end(), ' '));
  }
  return column.categories.size() > 1 && words >= kLeastWords * static_cast<double>(column.categories.size());
}

void AddFormat(const Column& column, std::vector<ColumnDecision>& decisions) {
  ColumnFormat format = column.format;
  format.decimal = column.is_date ? '.' : format.decimal;  // which the file's other columns have
  const std::string text = format.Text();
  if (text.empty()) {
    return;
  }
  if (column.is_date) {
    const bool day_first = format.date_order == DateOrder::kDayFirst;
    decisions.push_back({column.name, text, fmt::format("--date-order {}", day_first ? "month-first" : "day-first")});
  } else {
    decisions.push_back({column.name, "numbers, " + text,
                         format.decimal == ',' ? "--decimal point" : FlagFor("--text-columns", column.name)});
  }
}

// Cells that are no numbers, and columns of few numbers that a word made text.
void AddOdd(const Table& table, const Column& column, std::vector<ColumnDecision>& decisions) {
  if (!column.odd.cells.empty()) {
    decisions.push_back({column.name,
                         fmt::format("{} read as missing, the first in {}", column.odd.Text(),
                                     table.CellText(column.odd.cells.front().row, column)),
                         FlagFor("--text-columns", column.name)});
  }
  if (!column.word_of_few.empty()) {
    decisions.push_back(
        {column.name, fmt::format("text: '{}' recurs among few different numbers", WithoutControls(column.word_of_few)),
         FlagFor("--missing-values", column.word_of_few)});
  }
}

void AddFill(const FittedColumn& input, bool median, std::vector<ColumnDecision>& decisions) {
  const std::string with =
      input.IsWords() ? "no words"
      : input.kind == ColumnKind::kText
          ? fmt::format("the most frequent, '{}'", input.categories[static_cast<size_t>(input.fill_category)])
          : fmt::format("the {}, {}", median ? "median" : "mean",
                        input.is_date ? DateText(input.fill) : fmt::format("{:.6g}", input.fill));
  decisions.push_back({input.name,
                       fmt::format("{} {} it: filled in with {}{}", Counted(input.missing, "training row{s}"),
                                   input.missing == 1 ? "misses" : "miss", with,
                                   input.indicates_missing ? ", and one input more tells which" : ""),
                       input.indicates_missing ? "--missing-indicator no" : "--missing-indicator yes"});
}

void AddAlike(const std::string& first, const LeftOutColumn& left_out, int64_t count,
              std::vector<ColumnDecision>& decisions) {
  decisions.push_back({Counted(count, "column{s}"),
                       fmt::format("left out, the first is {}: {}", first, left_out.reason),
                       left_out.reason == kTellsNothing ? "--select all" : "--use NAME"});
}

}  // namespace

std::string ColumnDecision::Text() const { return fmt::format("{}: {} (else {})", column, what, otherwise); }

std::vector<ColumnDecision> DecisionsOnFile(const Table& table) {
  constexpr const char* kFile = "the file";
  constexpr const char* kKeep = "--around keep";
  std::vector<ColumnDecision> decisions;
  if (!table.encoding.empty()) {
    decisions.push_back({kFile, "not UTF-8 text, read as " + table.encoding, "--encoding NAME"});
  }
  if (table.sheet && table.sheet->assumed()) {
    decisions.push_back({kFile, table.sheet->Text(), "--sheet NAME"});
  }
  const auto add = [&](int64_t line, std::string_view what, const char* otherwise) {
    if (line > 0) {
      decisions.push_back({kFile, fmt::format(fmt::runtime(what), table.LineText(line)), otherwise});
    }
  };
  add(table.frame.begin, "the table begins in {}, below a title", "--header-line N");
  add(table.frame.units, "{} holds units or the like, no values, and is left out", kKeep);
  add(table.frame.sums, "{} holds the sums of the rows above, and is left out", kKeep);
  add(table.frame.notes, "the table ends above {}, which is a note", kKeep);
  return decisions;
}

namespace {

// What was done to the values of an input.
void AddInput(const FittedColumn& input, MissingPolicy missing, const PreprocessOptions& options,
              std::vector<ColumnDecision>& decisions) {
  if (input.missing > 0 && Fills(missing)) {
    AddFill(input, missing == MissingPolicy::kMedian, decisions);
  }
  if (input.folded > 0 && input.kind == ColumnKind::kText) {
    const int64_t own = std::ssize(input.categories);
    std::vector<std::string> flags;
    if (own + input.folded > options.max_categories) {
      flags.push_back(fmt::format("--max-categories {}", own + input.folded));
    }
    if (options.min_count > 1) {
      flags.emplace_back("--min-count 1");
    }
    decisions.push_back(
        {input.name,
         fmt::format("{} of its {} categories have an input each, {} (other)", WithThousands(own),
                     WithThousands(own + input.folded),
                     input.folded == 1 ? "the rarest is left"
                                       : fmt::format("the {} rarer ones share one", WithThousands(input.folded))),
         fmt::format("{}", fmt::join(flags, " "))});
  }
  if (!input.codes.empty() && options.find_codes) {
    decisions.push_back(
        {input.name,
         fmt::format("its numbers name something: {} of {} have an input each", WithThousands(std::ssize(input.codes)),
                     WithThousands(std::ssize(input.codes) + input.folded)),
         "--codes none"});
  }
  if (input.buckets > 0) {
    decisions.push_back({input.name,
                         fmt::format("free text: its words are hashed into {} inputs", WithThousands(input.buckets)),
                         "--text leave-out"});
  }
  if (input.scores) {
    decisions.push_back(
        {input.name,
         fmt::format("free text: {} what its words say of the target, learnt from other texts",
                     input.scores->count() == 1 ? "an input says"
                                                : fmt::format("{} inputs say", WithThousands(input.scores->count()))),
         "--text leave-out"});
  }
}

// Where the recipe keeps numbers between limits, and the rows have told that these cut a sum (docs/decisions/0127).
bool AreWithoutLimits(const Preprocessor& fitted, const PreprocessOptions& options) {
  return options.limits_may_go && options.scaling == Scaling::kRobust &&
         std::ranges::any_of(fitted.inputs().columns(), [](const FittedColumn& input) {
           return input.kind == ColumnKind::kNumber && input.edges.empty() && input.scaling.curve == Curve::kLinear;
         });
}

}  // namespace

std::vector<ColumnDecision> DecisionsOn(const Table& table, const Preprocessor& fitted,
                                        const PreprocessOptions& options) {
  const TargetEncoder& targets = fitted.targets();
  const auto left_out_columns = ColumnsByName(fitted.left_out());
  const auto input_columns = ColumnsByName(fitted.inputs().columns());
  const auto target_columns = ColumnsByName(targets.columns());
  std::vector<ColumnDecision> decisions = DecisionsOnFile(table);
  std::map<std::string, int64_t> same_reason;
  for (const LeftOutColumn& column : fitted.left_out()) {
    ++same_reason[column.reason];
  }
  for (const Column& column : table.columns) {
    if (const LeftOutColumn* left_out = Find(left_out_columns, column.name)) {
      int64_t& count = same_reason[left_out->reason];
      if (count > kMostNamedAlone) {  // all in one line, at the first
        AddAlike(column.name, *left_out, count, decisions);
        count = -1;
      }
      if (count < 0) {
        continue;
      }
      decisions.push_back({column.name, "left out: " + left_out->reason,
                           HasSeveralWords(column) ? "--text hash" : FlagFor("--use", column.name)});
      continue;
    }
    const FittedColumn* input = Find(input_columns, column.name);
    const FittedColumn* target = Find(target_columns, column.name);
    if (input != nullptr || target != nullptr) {
      AddFormat(column, decisions);
      AddOdd(table, column, decisions);
    }
    if (input != nullptr) {
      AddInput(*input, fitted.policies().missing, options, decisions);
    }
    if (target != nullptr && AreWithoutLimits(fitted, options)) {
      decisions.push_back({column.name, "a sum of columns: their large amounts are kept", "--scale robust"});
    }
    const size_t classes = targets.class_names().size();
    if (target != nullptr && column.kind == ColumnKind::kNumber && classes > kMostPlainClasses &&
        options.task == Task::kAuto && options.class_map.empty()) {
      decisions.push_back(
          {column.name, fmt::format("{} whole numbers, taken for classes", classes), "--task regression"});
    }
  }
  return decisions;
}

std::vector<ColumnDecision> LeakDecisions(const Table& table, std::span<const int64_t> rows,
                                          const Preprocessor& fitted) {
  std::vector<ColumnDecision> decisions;
  const bool classes = fitted.targets().task() == Task::kClassification;
  for (const Leak& leak : FindLeaks(table, rows, fitted)) {
    const std::string figure = classes ? fmt::format("{:.4g} % of rows right", 100 * leak.figure)
                                       : fmt::format("R² of ranks {:.6g}", leak.figure);
    decisions.push_back({leak.column,
                         fmt::format("warning: tells {} alone ({}): is it known before the answer is?",
                                     fitted.targets().columns()[0].name, figure),
                         FlagFor("--drop", leak.column)});
  }
  return decisions;
}

}  // namespace lamina
