// Encoding of rows: tiles of rows in parallel, column after column within a tile, so that strided sources and
// targets stay in cache. Tiles only flag what is wrong; the error is worded afterwards, for the first cell in
// row order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/column_statistics.h"
#include "lamina/data/encode/preprocessor_binding.h"

namespace lamina {
namespace {

constexpr int64_t kRowTile = 64;
constexpr int64_t kParallelCells = 1 << 18;  // fewer are encoded before a second thread wakes up
constexpr const char* kMissingRemedy = "Leave such rows out with --missing drop, or fill them in with --missing mean.";
constexpr const char* kUnseenRemedy =
    "Encode unseen values as zeros with --unseen zero, or train on rows that have it.";

// One input column, ready to encode.
struct Source {
  const Column* column = nullptr;
  const FittedColumn* fitted = nullptr;
  double fill = kNaN;          // missing numbers; NaN: an error
  int32_t fill_category = -1;  // missing text; -1: an error
  bool zero_unseen = false;
  bool lacks_mean = false;             // there is a mean to be filled in, but nobody knows it
  std::unique_ptr<CategoryView> view;  // text
  std::vector<int32_t> index;          // category of the table -> fitted one
  int64_t unseen = 0;
};

// Writes the scaled numbers to out[0], out[stride], ...; false if a result is not finite.
template <bool kLogarithm, class T, class Number>
bool EncodeNumbersAs(const Number* numbers, const Source& source, std::span<const int64_t> rows, T* out,
                     int64_t out_stride) {
  const int64_t stride = source.column->stride;
  ColumnScaling scaling = source.fitted->scaling;
  scaling.logarithm = kLogarithm;  // no branch in the loop
  const double fill = source.fill;
  bool good = true;
  for (const int64_t row : rows) {
    auto value = static_cast<double>(numbers[row * stride]);
    if constexpr (std::is_floating_point_v<Number>) {
      value = value == value ? value : fill;
    }
    const T encoded = static_cast<T>(scaling.Encode(value));
    good &= std::abs(encoded) <= std::numeric_limits<T>::max();  // false for NaN, too
    *out = encoded;
    out += out_stride;
  }
  return good;
}

template <class T, class Number>
bool EncodeNumbers(const Number* numbers, const Source& source, std::span<const int64_t> rows, T* out,
                   int64_t out_stride) {
  return source.fitted->scaling.logarithm ? EncodeNumbersAs<true>(numbers, source, rows, out, out_stride)
                                          : EncodeNumbersAs<false>(numbers, source, rows, out, out_stride);
}

// The fitted category of a row: -1 unseen, -2 missing.
int32_t CategoryOf(const Source& source, int64_t row) {
  const int32_t code = source.view->Code(row);
  if (code < 0) {
    return source.fill_category >= 0 ? source.fill_category : -2;
  }
  return source.index[static_cast<size_t>(code)];
}

// `out` is zero before; unseen categories stay zero.
template <class T>
bool EncodeText(const Source& source, std::span<const int64_t> rows, T* out, int64_t out_stride, int64_t& unseen) {
  const FittedColumn& fitted = *source.fitted;
  bool good = true;
  for (const int64_t row : rows) {
    const int32_t category = CategoryOf(source, row);
    if (category >= 0) {
      if (fitted.one_hot) {
        out[category] = T{1};
      } else {
        *out = static_cast<T>(fitted.scaling.Encode(category));
      }
    } else {
      good &= category == -1 && source.zero_unseen;
      ++unseen;
    }
    out += out_stride;
  }
  return good;
}

template <class T>
bool EncodeTile(std::span<Source> sources, std::span<const int64_t> rows, T* out, int64_t out_stride) {
  bool good = true;
  for (Source& source : sources) {
    T* first = out + source.fitted->first_input;
    if (source.view != nullptr) {
      int64_t unseen = 0;
      good &= EncodeText(source, rows, first, out_stride, unseen);
      if (unseen > 0) {
#pragma omp atomic
        source.unseen += unseen;
      }
    } else {
      good &= DispatchNumbers(
          *source.column, [&](const auto* numbers) { return EncodeNumbers(numbers, source, rows, first, out_stride); });
    }
  }
  return good;
}

// Words the error for the first bad cell of `rows`.
[[noreturn]] void ThrowFirstBad(const Table& table, std::span<const Source> sources, std::span<const int64_t> rows,
                                DType dtype) {
  for (const int64_t row : rows) {
    for (const Source& source : sources) {
      const Column& column = *source.column;
      if (source.view != nullptr) {
        const int32_t category = CategoryOf(source, row);
        if (category == -2) {
          ThrowCell(table, row, column, "missing value", kMissingRemedy);
        }
        if (category == -1 && !source.zero_unseen) {
          ThrowCell(table, row, column, "category not seen in training", kUnseenRemedy);
        }
        continue;
      }
      if (column.IsMissing(row) && source.lacks_mean) {
        ThrowCell(table, row, column, "missing value, and the model keeps no mean of this column to fill in",
                  "Leave such rows out with --missing drop, or train with --missing mean.");
      }
      if (column.IsMissing(row) && std::isnan(source.fill)) {
        ThrowCell(table, row, column, "missing value", kMissingRemedy);
      }
      const double encoded = source.fitted->scaling.Encode(column.IsMissing(row) ? source.fill : column.Number(row));
      const double limit =
          dtype == DType::kF32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
      if (!(std::abs(encoded) <= limit)) {
        ThrowCell(table, row, column, fmt::format("number too large for {} after scaling", DTypeName(dtype)),
                  "Correct the value.");
      }
    }
  }
  throw Error(ErrorCode::kBadData, "a value cannot be encoded", {.file = table.source});
}

// As MatchNames(), through the map.
std::vector<int32_t> ClassIndex(const CategoryView& view, const ClassMap& map,
                                const std::vector<std::string>& classes) {
  std::vector<int32_t> index = MatchNames(view, classes);
  for (size_t i = 0; i < index.size() && !map.empty(); ++i) {
    const auto found = std::find(classes.begin(), classes.end(), map.Of(view.names()[i]));
    index[i] = found == classes.end() ? -1 : static_cast<int32_t>(found - classes.begin());
  }
  return index;
}

void AddNewLabel(EncodeReport& report, const EncodeReport::NewLabel& label) {
  const auto known = std::find_if(report.new_labels.begin(), report.new_labels.end(),
                                  [&](const EncodeReport::NewLabel& other) { return other.name == label.name; });
  if (known != report.new_labels.end()) {
    known->rows += label.rows;
  } else {
    report.new_labels.push_back(label);
  }
  std::stable_sort(report.new_labels.begin(), report.new_labels.end(),
                   [](const auto& a, const auto& b) { return a.rows > b.rows; });
}

// The values that `fitted` was not trained on.
void AddNewLabels(const CategoryView& view, std::span<const int64_t> counts, std::span<const int32_t> index,
                  const Preprocessor& preprocessor, std::span<const std::string> fitted, EncodeReport& report) {
  const std::vector<int32_t> known = MatchNames(view, fitted);
  const auto spelled = [&](const std::string& name) {  // "smurf." and "smurf" are one value with a class map
    return std::find_if(fitted.begin(), fitted.end(), [&](const std::string& other) {
             return other == name + "." || other + "." == name;
           }) != fitted.end();
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0 && known[i] < 0 && (index[i] < 0 || !spelled(view.names()[i]))) {
      const auto& classes = preprocessor.class_names();
      AddNewLabel(report, {view.names()[i], index[i] < 0 ? "" : classes[static_cast<size_t>(index[i])], counts[i]});
    }
  }
}

void AddUnseen(EncodeReport& report, const std::string& column, int64_t count) {
  report.unseen_values += count;
  auto& names = report.unseen_columns;
  if (count > 0 && std::find(names.begin(), names.end(), column) == names.end()) {
    names.push_back(column);
  }
}

Source MakeSource(const Table& table, const Column& column, const FittedColumn& fitted, std::span<const int64_t> rows,
                  MissingPolicy missing, UnseenPolicy unseen) {
  Source source{.column = &column, .fitted = &fitted};
  source.zero_unseen = unseen == UnseenPolicy::kZero;
  if (missing == MissingPolicy::kMean) {
    source.fill = fitted.fill;
    source.fill_category = fitted.fill_category;
  }
  if (fitted.kind == ColumnKind::kText) {
    source.view = std::make_unique<CategoryView>(column, rows);
    source.index = MatchNames(*source.view, fitted.categories);
  } else if (column.kind == ColumnKind::kText) {
    const auto text = std::find_if(rows.begin(), rows.end(), [&](int64_t row) { return !column.IsMissing(row); });
    if (text != rows.end()) {
      ThrowCell(table, *text, column, "text in a column that held numbers in training", "Correct the value.");
    }
    if (!rows.empty()) {
      ThrowCell(table, rows[0], column, "missing value", kMissingRemedy);
    }
  }
  return source;
}

}  // namespace

void Preprocessor::EncodeFeatures(const Table& table, const Binding& binding, Dataset& dataset,
                                  EncodeReport& report) const {
  const std::span<const int64_t> rows = dataset.rows;
  std::vector<Source> sources;
  sources.reserve(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Source& source = sources.emplace_back(MakeSource(table, *binding.inputs[i], inputs_[i], rows, missing_, unseen_));
    if (missing_ == MissingPolicy::kMean && !KeepsMean(inputs_[i])) {
      source.lacks_mean = true;
      source.fill = kNaN;
    }
  }
  const auto count = static_cast<int64_t>(rows.size());
  const DType dtype = dataset.features.dtype();
  int64_t first_bad = count;
  DispatchFloat(dtype, [&](auto zero) {
    using T = decltype(zero);
#pragma omp parallel for schedule(static) reduction(min : first_bad) if (count * input_count_ > kParallelCells)
    for (int64_t begin = 0; begin < count; begin += kRowTile) {
      const auto tile =
          rows.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(kRowTile, count - begin)));
      if (!EncodeTile(std::span(sources), tile, dataset.features.Row<T>(begin), input_count_)) {
        first_bad = std::min(first_bad, begin);
      }
    }
  });
  if (first_bad < count) {
    ThrowFirstBad(table, sources, rows.subspan(static_cast<size_t>(first_bad)), dtype);
  }
  for (const Source& source : sources) {
    AddUnseen(report, source.fitted->name, source.unseen);
  }
}

void Preprocessor::EncodeClasses(const Table& table, const Column& column, Dataset& dataset,
                                 EncodeReport& report) const {
  const CategoryView view(column, dataset.rows);
  const std::vector<int32_t> index = ClassIndex(view, class_map_, class_names_);
  dataset.labels.resize(dataset.rows.size());
  std::vector<int64_t> counts(view.names().size());
  for (size_t i = 0; i < dataset.rows.size(); ++i) {
    const int32_t code = view.Code(dataset.rows[i]);
    if (code < 0) {
      ThrowCell(table, dataset.rows[i], column, "missing class", "Leave such rows out with --missing drop.");
    }
    const int32_t label = index[static_cast<size_t>(code)];
    if (label < 0 && unseen_ == UnseenPolicy::kError) {
      ThrowCell(table, dataset.rows[i], column, "class not seen in training",
                "Count rows of unseen classes as wrong with --unseen zero, or train on rows that have it.");
    }
    ++counts[static_cast<size_t>(code)];
    dataset.labels[i] = label;
  }
  AddNewLabels(view, counts, index, *this, class_map_.empty() ? class_names_ : targets_[0].categories, report);
  DispatchFloat(dataset.targets.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* target = dataset.targets.Row<T>(0);
    const int64_t outputs = output_count();
    std::fill(target, target + std::ssize(dataset.rows) * outputs, static_cast<T>(negative_target_));
    for (const int32_t label : dataset.labels) {
      const int32_t output = single_output_ ? label - 1 : label;  // class 1 is the positive one
      if (output >= 0) {
        target[output] = static_cast<T>(positive_target_);
      }
      target += outputs;
    }
  });
}

void Preprocessor::EncodeValues(const Table& table, const Binding& binding, Dataset& dataset) const {
  for (size_t j = 0; j < targets_.size(); ++j) {
    const Column& column = *binding.targets[j];
    const Source source = MakeSource(table, column, targets_[j], dataset.rows, MissingPolicy::kError, unseen_);
    const bool good = DispatchFloat(dataset.targets.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return DispatchNumbers(column, [&](const auto* numbers) {
        return EncodeNumbers(numbers, source, std::span<const int64_t>(dataset.rows), dataset.targets.Row<T>(0) + j,
                             output_count());
      });
    });
    if (!good) {
      ThrowFirstBad(table, std::span(&source, 1), dataset.rows, dataset.targets.dtype());
    }
  }
}

void Preprocessor::EncodeBaseline(const Table& table, const Binding& binding, Dataset& dataset) const {
  if (baseline_.name.empty()) {
    return;
  }
  dataset.baseline.assign(dataset.rows.size(), baseline_.fill);
  for (size_t i = 0; i < dataset.rows.size() && binding.baseline != nullptr; ++i) {
    dataset.baseline[i] = binding.baseline->Number(dataset.rows[i]);
    if (std::isnan(dataset.baseline[i])) {
      ThrowCell(table, dataset.rows[i], *binding.baseline, "missing value in the column of the baseline",
                "Leave such rows out with --missing drop.");
    }
  }
}

bool Preprocessor::KeepsMean(const FittedColumn& input) const {
  return measured_means_ || input.fill != 0 || (!is_image() && !input.scaling.IsIdentity());
}

Dataset Preprocessor::EncodeRows(const Table& table, std::span<const int64_t> rows, Parts parts, DType dtype,
                                 EncodeReport* report) const {
  if (dtype != DType::kF32 && dtype != DType::kF64) {
    throw Error(ErrorCode::kInvalidArgument, "rows are encoded as f32 or f64",
                {.value = std::string(DTypeName(dtype))});
  }
  const bool with_inputs = parts != Parts::kTargets;
  const bool with_targets = parts != Parts::kInputs;
  const Binding binding = Bind(table, with_targets);
  Dataset dataset;
  dataset.rows = UsableRows(table, rows, with_targets);
  const int64_t count = std::ssize(dataset.rows);
  dataset.features = Matrix(count, with_inputs ? input_count_ : 0, dtype);
  if (with_targets) {
    dataset.targets = Matrix(count, output_count(), dtype);
  }
  if (count == 0) {
    return dataset;
  }
  EncodeReport counted;
  if (with_inputs) {
    EncodeFeatures(table, binding, dataset, counted);
  }
  if (with_targets && task_ == Task::kClassification) {
    EncodeClasses(table, *binding.targets[0], dataset, counted);
  } else if (with_targets) {
    EncodeValues(table, binding, dataset);
    EncodeBaseline(table, binding, dataset);
  }
  if (report != nullptr) {
    for (const std::string& column : counted.unseen_columns) {
      AddUnseen(*report, column, 1);
      --report->unseen_values;
    }
    report->unseen_values += counted.unseen_values;
    for (const EncodeReport::NewLabel& label : counted.new_labels) {
      AddNewLabel(*report, label);
    }
  }
  return dataset;
}

Dataset Preprocessor::Encode(const Table& table, std::span<const int64_t> rows, DType dtype,
                             EncodeReport* report) const {
  return EncodeRows(table, rows, Parts::kBoth, dtype, report);
}

Dataset Preprocessor::EncodeInputs(const Table& table, std::span<const int64_t> rows, DType dtype,
                                   EncodeReport* report) const {
  return EncodeRows(table, rows, Parts::kInputs, dtype, report);
}

Dataset Preprocessor::EncodeTargets(const Table& table, std::span<const int64_t> rows, DType dtype,
                                    EncodeReport* report) const {
  return EncodeRows(table, rows, Parts::kTargets, dtype, report);
}

}  // namespace lamina
