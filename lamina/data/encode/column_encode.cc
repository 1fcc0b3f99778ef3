// Encoding of rows: tiles of rows in parallel, column after column within a tile, so that strided sources and
// targets stay in cache. Tiles only flag what is wrong; the error is worded afterwards, for the first cell in
// row order.
#include "lamina/data/encode/column_encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/nan.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/data/encode/category_lookup.h"
#include "lamina/data/encode/column_access.h"
#include "lamina/data/encode/text_hash.h"

namespace lamina {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kRowTile = 64;
constexpr int64_t kParallelCells = 1 << 18;  // fewer are encoded before a second thread wakes up
constexpr int64_t kCellsOfPart = 1 << 22;    // before somebody asks whether to stop
constexpr const char* kMissingRemedy =
    "Fill such cells in with --missing mean, or leave the rows out with --missing drop.";
constexpr const char* kUnseenRemedy =
    "Encode unseen values as zeros with --unseen zero, or train on rows that have it.";

// One input column, ready to encode.
struct Source {
  const Column* column = nullptr;
  const FittedColumn* fitted = nullptr;
  double fill = kNaN;                      // missing numbers; NaN: an error
  NumberSpan near{-kInfinity, kInfinity};  // numbers beyond are far from those of training
  bool fills_text = false;                 // else missing text is an error
  bool zero_unseen = false;
  bool lacks_mean = false;             // there is a mean to be filled in, but nobody knows it
  std::vector<ColumnScaling> parts;    // of numbers: an input each, but for those of codes
  std::unique_ptr<CategoryView> view;  // text
  std::vector<int32_t> index;          // category of the table -> fitted one
  int64_t unseen = 0;
  int64_t filled = 0;
  int64_t far = 0;  // numbers
};

// What is counted in a tile.
struct Counts {
  int64_t unseen = 0;
  int64_t filled = 0;
  int64_t far = 0;
};

// Writes one input of the numbers to out[0], out[stride], ...; false if a result is not finite.
template <bool kLinear, class T, class Number>
bool EncodePart(const Number* numbers, const Source& source, const ColumnScaling scaling, std::span<const int64_t> rows,
                T* out, int64_t out_stride, Counts& counts) {
  const int64_t stride = source.column->stride;
  const double fill = source.fill;
  const NumberSpan near = source.near;
  bool good = true;
  int64_t filled = 0;
  int64_t far = 0;
  for (const int64_t row : rows) {
    auto value = static_cast<double>(numbers[row * stride]);
    if constexpr (std::is_floating_point_v<Number>) {
      filled += value == value ? 0 : 1;
      value = value == value ? value : fill;
    }
    far += value < near.low || value > near.high ? 1 : 0;
    T encoded;
    if constexpr (kLinear) {  // no branch in the loop, and no limits
      encoded = static_cast<T>((value - scaling.offset) / scaling.scale);
    } else {
      encoded = static_cast<T>(scaling.Encode(value));
    }
    good &= std::abs(encoded) <= std::numeric_limits<T>::max();  // false for NaN, too
    *out = encoded;
    out += out_stride;
  }
  counts.filled += filled;
  counts.far += far;
  return good;
}

template <class T, class Number>
bool EncodeNumbers(const Number* numbers, const Source& source, std::span<const int64_t> rows, T* out,
                   int64_t out_stride, Counts& counts) {
  bool good = true;
  Counts counted;  // by the first part; the others meet the same numbers
  for (const ColumnScaling& part : source.parts) {
    good &= part.IsLinear() ? EncodePart<true>(numbers, source, part, rows, out++, out_stride, counted)
                            : EncodePart<false>(numbers, source, part, rows, out++, out_stride, counted);
    if (&part == source.parts.data()) {
      counts = counted;
    }
  }
  return good;
}

// The place of a row's number among the codes; -1: it is none.
int64_t CodeOf(const Source& source, int64_t row) {
  const std::vector<double>& codes = source.fitted->codes;
  double value = source.column->Number(row);
  value = std::isnan(value) ? source.fill : value;
  const auto found = std::ranges::lower_bound(codes, value);
  return found != codes.end() && *found == value ? found - codes.begin() : -1;
}

// `out` is zero before.
template <class T>
void EncodeCodes(const Source& source, std::span<const int64_t> rows, T* out, int64_t out_stride) {
  for (const int64_t row : rows) {
    if (const int64_t code = CodeOf(source, row); code >= 0) {
      out[code] = T{1};
    }
    out += out_stride;
  }
}

template <class T>
void EncodeIndicator(const Column& column, std::span<const int64_t> rows, T* out, int64_t out_stride) {
  for (const int64_t row : rows) {
    *out = column.IsMissing(row) ? T{1} : T{0};
    out += out_stride;
  }
}

// Missing text has no words, and is let through where gaps are filled. Returns whether it was.
bool ReadWords(const Source& source, int64_t row, std::span<double> numbers, Counts& counts) {
  const FittedColumn& fitted = *source.fitted;
  const int32_t code = source.view->Code(row);
  const std::string_view text = code < 0 ? std::string_view() : source.view->names()[static_cast<size_t>(code)];
  if (fitted.scores) {
    fitted.scores->Score(text, numbers.data());
  } else {
    std::fill(numbers.begin(), numbers.end(), 0.0);
    HashText(text, numbers);
  }
  counts.filled += code < 0 ? 1 : 0;
  return code >= 0 || source.fills_text;
}

template <class T>
bool EncodeWords(const Source& source, std::span<const int64_t> rows, T* out, int64_t out_stride, Counts& counts) {
  std::vector<double> numbers(static_cast<size_t>(source.fitted->value_width()));
  bool good = true;
  for (const int64_t row : rows) {
    good &= ReadWords(source, row, numbers, counts);
    std::copy(numbers.begin(), numbers.end(), out);
    out += out_stride;
  }
  return good;
}

// The fitted category of a row: -1 unseen, -2 missing.
int32_t CategoryOf(const Source& source, int64_t row) {
  const int32_t code = source.view->Code(row);
  if (code < 0) {
    return source.fills_text ? source.fitted->fill_category : -2;
  }
  if (source.fitted->IsWords()) {
    return 0;  // all words are known
  }
  return source.index[static_cast<size_t>(code)];
}

// `out` is zero before; unseen categories stay zero.
template <class T>
bool EncodeText(const Source& source, std::span<const int64_t> rows, T* out, int64_t out_stride, Counts& counts) {
  const FittedColumn& fitted = *source.fitted;
  bool good = true;
  for (const int64_t row : rows) {
    const int32_t category = CategoryOf(source, row);
    counts.filled += source.view->Code(row) < 0 ? 1 : 0;
    if (category >= 0) {
      if (fitted.one_hot) {
        out[category] = T{1};
      } else {
        *out = static_cast<T>(fitted.scaling.Encode(category));
      }
    } else {
      good &= category == -1 && source.zero_unseen;
      ++counts.unseen;
    }
    out += out_stride;
  }
  return good;
}

// On any thread.
void AddTo(Source& source, const Counts& counts) {
  if (counts.unseen + counts.filled + counts.far > 0) {
    // As std::atomic_ref, which the library of emscripten 3.1.69 lacks.
    __atomic_fetch_add(&source.unseen, counts.unseen, __ATOMIC_RELAXED);
    __atomic_fetch_add(&source.filled, counts.filled, __ATOMIC_RELAXED);
    __atomic_fetch_add(&source.far, counts.far, __ATOMIC_RELAXED);
  }
}

template <class T>
bool EncodeTile(std::span<Source> sources, std::span<const int64_t> rows, T* out, int64_t out_stride) {
  bool good = true;
  for (Source& source : sources) {
    T* first = out + source.fitted->place;
    Counts counts;
    if (source.fitted->indicates_missing) {
      EncodeIndicator(*source.column, rows, first + source.fitted->value_width(), out_stride);
    }
    if (source.fitted->IsWords()) {
      good &= EncodeWords(source, rows, first, out_stride, counts);
    } else if (source.view != nullptr) {
      good &= EncodeText(source, rows, first, out_stride, counts);
    } else {
      good &= DispatchNumbers(*source.column, [&](const auto* numbers) {
        return EncodeNumbers(numbers, source, rows, first, out_stride, counts);
      });
      if (!source.fitted->codes.empty()) {
        EncodeCodes(source, rows, first + source.parts.size(), out_stride);
      }
    }
    AddTo(source, counts);
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
                  "Train with --missing mean, or leave such rows out with --missing drop.");
      }
      if (column.IsMissing(row) && std::isnan(source.fill)) {
        ThrowCell(table, row, column, "missing value", kMissingRemedy);
      }
      const double value = column.IsMissing(row) ? source.fill : column.Number(row);
      const double limit =
          dtype == DType::kF32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
      if (!std::all_of(source.parts.begin(), source.parts.end(),
                       [&](const ColumnScaling& part) { return std::abs(part.Encode(value)) <= limit; })) {
        ThrowCell(table, row, column, fmt::format("number too large for {} after scaling", DTypeName(dtype)),
                  "Correct the value.");
      }
    }
  }
  throw Error(ErrorCode::kBadData, "a value cannot be encoded", {.file = table.source});
}

void AddCount(const std::string& column, int64_t count, int64_t& total, std::vector<std::string>& names) {
  total += count;
  if (count > 0 && std::find(names.begin(), names.end(), column) == names.end()) {
    names.push_back(column);
  }
}

Source MakeSource(const Column& column, const FittedColumn& fitted, std::span<const int64_t> rows,
                  const EncodePolicies& policies) {
  Source source{.column = &column, .fitted = &fitted};
  source.zero_unseen = policies.unseen == UnseenPolicy::kZero;
  if (fitted.span) {
    source.near = NearOf(*fitted.span);
  }
  if (Fills(policies.missing)) {
    source.lacks_mean = !fitted.keeps_mean;
    source.fill = fitted.keeps_mean ? fitted.fill : kNaN;
    source.fills_text = true;
  }
  if (fitted.kind == ColumnKind::kNumber) {
    source.parts = fitted.Parts();
    source.parts.resize(source.parts.size() - fitted.codes.size());
  }
  if (fitted.kind == ColumnKind::kText) {
    source.view = std::make_unique<CategoryView>(column, rows);
    source.index = MatchNames(*source.view, fitted.categories);
    std::replace(source.index.begin(), source.index.end(), -1, fitted.other());
  }
  return source;
}

}  // namespace

NumberSpan NearOf(const NumberSpan& span) {
  const double margin = span.high > span.low ? 3 * (span.high - span.low) : kInfinity;
  return {span.low - margin, span.high + margin};
}

void EncodeColumns(const Table& table, std::span<const FittedColumn> fitted, std::span<const Column* const> columns,
                   std::span<const int64_t> rows, const EncodePolicies& policies, Matrix& out, EncodeReport& report) {
  std::vector<Source> sources;
  sources.reserve(fitted.size());
  for (size_t i = 0; i < fitted.size(); ++i) {
    sources.push_back(MakeSource(*columns[i], fitted[i], rows, policies));
    StopPoint();
  }
  const auto count = static_cast<int64_t>(rows.size());
  const DType dtype = out.dtype();
  std::atomic<int64_t> first_bad{count};
  const int64_t part_rows = std::max<int64_t>(1, kCellsOfPart / std::max<int64_t>(1, out.cols()) / kRowTile) * kRowTile;
  DispatchFloat(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t part = 0; part < count; part += part_rows) {
      const int64_t end = std::min(part + part_rows, count);
      const int threads = (end - part) * out.cols() > kParallelCells ? UsualThreads() : 1;
      RunParts(threads, (end - part + kRowTile - 1) / kRowTile, [&](int64_t first, int64_t last) {
        for (int64_t begin = part + first * kRowTile; begin < std::min(end, part + last * kRowTile);
             begin += kRowTile) {
          const auto tile =
              rows.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(kRowTile, end - begin)));
          if (!EncodeTile(std::span(sources), tile, out.Row<T>(begin), out.cols())) {
            int64_t least = first_bad;
            while (begin < least && !first_bad.compare_exchange_weak(least, begin)) {
            }
          }
        }
      });
      StopPoint();
    }
  });
  if (first_bad < count) {
    ThrowFirstBad(table, sources, rows.subspan(static_cast<size_t>(first_bad.load())), dtype);
  }
  for (const Source& source : sources) {
    const std::string& name = source.fitted->name;
    AddCount(name, source.unseen, report.unseen_values, report.unseen_columns);
    AddCount(name, source.filled, report.filled_values, report.filled_columns);
    AddCount(name, source.far, report.far_values, report.far_columns);
  }
}

}  // namespace lamina
