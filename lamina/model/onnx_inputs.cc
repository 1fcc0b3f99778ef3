// Numbers at once, text column by column.
#include "lamina/model/onnx_inputs.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/text.h"
#include "lamina/data/files/missing_marks.h"
#include "lamina/data/files/text_numbers.h"
#include "lamina/model/onnx_scaling.h"

namespace lamina {
namespace {

// The marks of missing values as people spell them: ONNX looks for whole words.
std::vector<std::string> MarkSpellings() {
  std::vector<std::string> spellings;
  const auto add = [&](const std::string& text) {
    if (std::find(spellings.begin(), spellings.end(), text) == spellings.end()) {
      spellings.push_back(text);
    }
  };
  for (const std::string_view mark : CommonMissingMarks()) {
    std::string text(mark);
    add(text);
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; };
    std::transform(text.begin(), text.begin() + (text.empty() ? 0 : 1), text.begin(), upper);
    add(text);
    std::transform(text.begin(), text.end(), text.begin(), upper);
    add(text);
  }
  add("NaN");
  add(" ");
  return spellings;
}

constexpr const char* kTrue[] = {"true", "True", "TRUE", "1"};
constexpr const char* kFalse[] = {"false", "False", "FALSE", "0"};

class InputBuilder {
 public:
  InputBuilder(OnnxGraph& graph, const Preprocessor& preprocessor, DType dtype)
      : graph_(graph), preprocessor_(preprocessor), dtype_(dtype), fills_(Fills(preprocessor.policies().missing)) {}

  // In the order of the columns.
  std::string Run(std::set<std::string>& taken) {
    const std::vector<FittedColumn>& columns = preprocessor_.inputs().columns();
    for (const FittedColumn& column : columns) {
      if (column.kind == ColumnKind::kText) {
        taken.insert(column.name);
      }
    }
    const bool numbers_only = taken.empty();
    std::string numbers = Numbers(FreeName(taken, numbers_only ? "input" : "numbers"));
    if (numbers_only) {
      return numbers;
    }
    std::vector<std::string> parts;
    std::vector<int64_t> run;  // the inputs of neighboring number columns
    const auto end_run = [&] {
      if (!run.empty()) {
        parts.push_back(Columns(numbers, std::exchange(run, {})));
      }
    };
    int64_t number = 0;
    for (const FittedColumn& column : columns) {
      if (column.kind == ColumnKind::kNumber) {
        for (int64_t i = 0; i < column.width(); ++i) {
          run.push_back(number++);
        }
      } else {
        end_run();
        Text(column, parts);
      }
    }
    end_run();
    return missing_.empty() ? Joined(parts) : NaNWhereMissing(Joined(parts));
  }

 private:
  std::string Node(const char* operation, std::vector<std::string> inputs, const OnnxGraph::Attributes& attributes = {},
                   const std::string& domain = {}) {
    return graph_.Node(operation, std::move(inputs), attributes, domain);
  }
  std::string Cast(const std::string& value, DType to) {
    return Node("Cast", {value}, {{"to", static_cast<int64_t>(OnnxTypeOf(to))}});
  }
  std::string Columns(const std::string& matrix, const std::vector<int64_t>& columns) {
    return Node("Gather", {matrix, graph_.Vector(columns)}, {{"axis", int64_t{1}}});
  }
  // A row that misses a text has no answer, as one that misses a number.
  std::string NaNWhereMissing(const std::string& value) {
    std::string count = missing_.front();
    for (size_t i = 1; i < missing_.size(); ++i) {
      count = Node("Add", {count, missing_[i]});
    }
    return Node("Where", {Node("Greater", {count, graph_.Scalar(dtype_, 0)}), graph_.Scalar(dtype_, kNaN), value});
  }
  std::string Joined(const std::vector<std::string>& parts) {
    return parts.size() == 1 ? parts.front() : Node("Concat", parts, {{"axis", int64_t{1}}});
  }

  // The inputs of all number columns, in their order: missing ones filled, scaled, in bins. In double precision as in
  // the program, but for images: x / 255 rounds the same in f32, and runtimes for small devices have no doubles.
  std::string Numbers(const std::string& name) {
    std::vector<ColumnScaling> scalings;
    std::vector<int64_t> sources;     // the number columns that they are of
    std::vector<int64_t> indicators;  // those with an input for missing values
    std::vector<int64_t> order;       // scalings and then indicators to the order of the columns
    std::vector<double> fills;
    std::vector<std::pair<int64_t, size_t>> indicator_places;
    for (const FittedColumn& column : preprocessor_.inputs().columns()) {
      if (column.kind != ColumnKind::kNumber) {
        continue;
      }
      const int64_t number = std::ssize(fills);
      fills.push_back(column.fill);
      for (const ColumnScaling& scaling : column.Parts()) {
        order.push_back(std::ssize(scalings));
        scalings.push_back(scaling);
        sources.push_back(number);
      }
      if (column.indicates_missing) {
        indicator_places.emplace_back(std::ssize(indicators), order.size());
        order.push_back(0);
        indicators.push_back(number);
      }
    }
    for (const auto& [indicator, place] : indicator_places) {
      order[place] = std::ssize(scalings) + indicator;
    }
    if (scalings.empty()) {
      return "";
    }
    graph_.AddInput(name, OnnxTypeOf(dtype_), std::ssize(fills));
    const std::string given = NaNWhereInfinite(name);
    std::string value = Scaled(given, scalings, sources, fills);
    if (indicators.empty()) {
      return value;
    }
    const std::string missing = Cast(Node("IsNaN", {Columns(given, indicators)}), dtype_);
    return Columns(Joined({value, missing}), order);
  }

  // No file says infinite: the program takes such a cell for a missing one. Images have bytes.
  std::string NaNWhereInfinite(const std::string& value) {
    return preprocessor_.inputs().is_image()
               ? value
               : Node("Where", {Node("IsInf", {value}), graph_.Scalar(dtype_, kNaN), value});
  }

  std::string Scaled(const std::string& name, const std::vector<ColumnScaling>& scalings,
                     const std::vector<int64_t>& sources, const std::vector<double>& fills) {
    std::string value = name;
    if (!fills_ && std::all_of(scalings.begin(), scalings.end(), std::mem_fn(&ColumnScaling::IsIdentity))) {
      return value;
    }
    const bool only_divided = std::all_of(scalings.begin(), scalings.end(), [](const ColumnScaling& scaling) {
      return scaling.IsLinear() && scaling.offset == 0;
    });
    const DType compute = only_divided ? dtype_ : DType::kF64;
    if (compute != dtype_) {
      value = Cast(value, compute);
    }
    if (fills_) {
      value = Node("Where", {Node("IsNaN", {value}), graph_.Vector(compute, fills), value});
    }
    std::vector<int64_t> one_each(fills.size());
    std::iota(one_each.begin(), one_each.end(), int64_t{0});
    if (sources != one_each) {
      value = Columns(value, sources);
    }
    value = EncodeInGraph(graph_, compute, value, scalings);
    return compute == dtype_ ? value : Cast(value, dtype_);
  }

  // A text column: its category's index, then one input a category, or a number for it. OneHotEncoder also refuses
  // what training did not see, if the model does.
  void Text(const FittedColumn& column, std::vector<std::string>& parts) {
    if (column.IsWords()) {
      throw Error(ErrorCode::kUnsupported, "ONNX has no operators for the words of free text",
                  {.column = column.name, .remedy = "Train without the column (--drop, or --text leave-out)."});
    }
    graph_.AddInput(column.name, OnnxType::kString, 1);
    std::vector<std::string> keys;
    std::vector<int64_t> values;
    AddCategories(column, keys, values);
    std::vector<std::string> gaps;  // how missing values are written
    for (const std::string& missing : MarkSpellings()) {
      if (std::find(column.categories.begin(), column.categories.end(), missing) == column.categories.end()) {
        gaps.push_back(missing);
      }
    }
    if (fills_) {
      keys.insert(keys.end(), gaps.begin(), gaps.end());
      values.resize(keys.size(), column.fill_category);
    }
    const std::string index = Index(column, keys, values, column.other());
    std::vector<int64_t> indices(column.categories.size() + (column.has_other ? 1 : 0));
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const std::string one_hot =
        OneHot(index, indices, preprocessor_.policies().unseen == UnseenPolicy::kZero || column.has_other);
    if (column.one_hot) {
      parts.push_back(one_hot);
    } else {
      std::vector<double> encoded;
      encoded.reserve(indices.size());
      for (const int64_t i : indices) {
        encoded.push_back(column.scaling.Encode(static_cast<double>(i)));
      }
      const int64_t as_column[] = {-1, 1};
      parts.push_back(
          Node("MatMul", {one_hot, Node("Reshape", {graph_.Vector(dtype_, encoded), graph_.Vector(as_column)})}));
    }
    if (!fills_) {
      FindMissing(column, gaps);
    }
    if (column.indicates_missing) {
      const std::vector<int64_t> zero(gaps.size());
      parts.push_back(OneHot(Index(column, gaps, zero, -1), {0}, true));
    }
  }

  // Categories as they are written, and as MatchNames() takes them; of blanks at their ends only one each.
  static void AddCategories(const FittedColumn& column, std::vector<std::string>& keys, std::vector<int64_t>& values) {
    const auto add = [&](std::string_view key, int64_t value) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.emplace_back(key);
        values.push_back(value);
      }
    };
    const auto count = std::ssize(column.categories);
    bool only_truths = true;
    for (int64_t i = 0; i < count; ++i) {
      const std::string& category = column.categories[static_cast<size_t>(i)];
      add(category, i);
      const std::string name(Trim(category));
      for (const std::string& key : {name, " " + name, name + " ", " " + name + " "}) {  // ONNX cannot take blanks off
        add(key, i);
      }
      only_truths = only_truths && ParseTruth(Trim(category)).has_value();
    }
    for (int64_t i = 0; only_truths && i < count; ++i) {
      const bool truth = *ParseTruth(Trim(column.categories[static_cast<size_t>(i)]));
      for (const char* key : truth ? kTrue : kFalse) {
        add(key, i);
      }
    }
  }

  // Whether a row misses text that the model does not fill in: rows × 1 numbers, 1 or 0.
  void FindMissing(const FittedColumn& column, const std::vector<std::string>& gaps) {
    const std::vector<int64_t> zero(gaps.size());
    missing_.push_back(OneHot(Index(column, gaps, zero, -1), {0}, true));
  }

  std::string Index(const FittedColumn& column, const std::vector<std::string>& keys,
                    const std::vector<int64_t>& values, int64_t otherwise) {
    return Node("LabelEncoder", {column.name},
                {{"keys_strings", keys}, {"values_int64s", values}, {"default_int64", otherwise}},
                OnnxGraph::kMlDomain);
  }

  std::string OneHot(const std::string& index, const std::vector<int64_t>& indices, bool zeros) {
    const std::string cube =
        Node("OneHotEncoder", {index}, {{"cats_int64s", indices}, {"zeros", int64_t{zeros}}}, OnnxGraph::kMlDomain);
    const int64_t shape[] = {-1, std::ssize(indices)};
    const std::string one_hot = Node("Reshape", {cube, graph_.Vector(shape)});
    return dtype_ == DType::kF64 ? Cast(one_hot, dtype_) : one_hot;
  }

  OnnxGraph& graph_;
  const Preprocessor& preprocessor_;
  DType dtype_;
  bool fills_;                        // missing values
  std::vector<std::string> missing_;  // of text, a number each
};

}  // namespace

std::string FreeName(const std::set<std::string>& taken, std::string name) {
  while (taken.contains(name)) {
    name += '_';
  }
  return name;
}

std::string InputsInGraph(OnnxGraph& graph, const Preprocessor& preprocessor, DType dtype,
                          std::set<std::string>& taken) {
  return InputBuilder(graph, preprocessor, dtype).Run(taken);
}

}  // namespace lamina
