// Ranges, and the texts of values.
#include "lamina/base/setting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "lamina/base/list_text.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

template <class T>
constexpr bool kIsList = false;
template <class T>
constexpr bool kIsList<std::vector<T>> = true;
template <class T>
constexpr bool kIsMaybe = false;
template <class T>
constexpr bool kIsMaybe<std::optional<T>> = true;

// False where `text` is no value of the field's type.
template <class T>
bool Parse(std::string_view text, T& field) {
  if constexpr (std::is_same_v<T, std::string>) {
    field = text;
    return true;
  } else if constexpr (kIsList<T>) {
    if (!std::is_same_v<typename T::value_type, std::string> && text == kAutoText) {
      return true;
    }
    if constexpr (std::is_same_v<typename T::value_type, std::string>) {
      field = text.empty() ? T() : SplitList(text);
      return true;
    }
    for (const std::string_view piece : text.empty() ? std::vector<std::string_view>() : SplitText(text, ',')) {
      typename T::value_type item{};
      if (!Parse(Trim(piece), item)) {
        return false;
      }
      field.push_back(std::move(item));
    }
    return true;
  } else if constexpr (kIsMaybe<T>) {
    if (text.empty() || text == kAutoText) {
      field.reset();
      return true;
    }
    return Parse(text, field.emplace());
  } else if constexpr (std::is_same_v<T, bool>) {
    field = text == "yes" || text == "true";
    return field || text == "no" || text == "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    field = ParseNumber(text);
    return std::isfinite(field);
  } else if constexpr (std::is_unsigned_v<T>) {  // a seed may use all 64 bits
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), field);
    return failed == std::errc() && end == text.data() + text.size();
  } else {
    const std::optional<int64_t> value = ParseInteger(text);
    field = value.value_or(0);
    return value.has_value();
  }
}

constexpr const char* kKindTexts[] = {"a text",
                                      "a list of texts",
                                      "a whole number",
                                      "a whole number or auto",
                                      "a whole number, 0 or more",
                                      "a list of whole numbers",
                                      "a number",
                                      "a number or auto",
                                      "a list of numbers",
                                      "yes or no"};
static_assert(std::size(kKindTexts) == std::variant_size_v<SettingField>);

template <class T>
std::string Text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (kIsMaybe<T>) {
    return value ? fmt::format("{}", *value) : "";
  } else if constexpr (kIsList<T>) {
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      return ListText(value);
    }
    return fmt::format("{}", fmt::join(value, ","));
  } else {
    return fmt::format("{}", value);
  }
}

// Every number that there is.
template <class T, class Fn>
bool AllNumbers(const T& value, const Fn& fits) {
  if constexpr (std::is_arithmetic_v<T>) {
    return fits(static_cast<double>(value));
  } else if constexpr (kIsMaybe<T>) {
    return !value || fits(static_cast<double>(*value));
  } else if constexpr (kIsList<T>) {
    return std::all_of(value.begin(), value.end(), [&](const auto& item) { return AllNumbers(item, fits); });
  } else {
    return true;
  }
}

}  // namespace

bool NumberRange::Contains(double x) const {
  if (x == 0 && zero) {
    return *zero;
  }
  return (above_low ? x > low : x >= low) && (below_high ? x < high : x <= high);  // no NaN, no infinity
}

std::string NumberRange::Text() const {
  const NumberRange any;
  if (low == any.low && high == any.high) {
    return zero.value_or(true) ? "a finite number" : "a finite number other than 0";
  }
  const std::string or_zero = zero.value_or(false) ? "0 or " : "";
  if (high == any.high) {
    if (low == 0) {
      return above_low ? or_zero + "a positive number" : "0 or a positive number";
    }
    return fmt::format("{}{} {}", or_zero, above_low ? "above" : "at least", low);
  }
  return above_low || below_high ? fmt::format("{}{} {} and {} {}", or_zero, above_low ? "above" : "at least", low,
                                               below_high ? "below" : "at most", high)
                                 : fmt::format("{}from {} to {}", or_zero, low, high);
}

void NumberRange::Require(std::string_view name, double x) const {
  if (!Contains(x)) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} must be {}", name, Text()),
                {.value = fmt::format("{}", x)});
  }
}

std::string FieldText(SettingValue value) {
  return std::visit([](const auto* each) { return Text(*each); }, value);
}

void ParseField(std::string_view name, std::string_view text, SettingField field) {
  std::visit(
      [&]<class T>(T* each) {
        const std::string_view piece = std::is_same_v<T, std::string> ? text : Trim(text);
        T value{};
        if (!Parse(piece, value)) {
          RefuseSetting(name,
                        fmt::format("--{} {} {}", name, piece.empty() ? "needs" : "takes", kKindTexts[field.index()]),
                        std::string(piece));
        }
        *each = std::move(value);
      },
      field);
}

void CheckRange(std::string_view name, const NumberRange& range, SettingValue value) {
  const auto fits = [&](double x) { return range.Contains(x); };
  if (!std::visit([&](const auto* each) { return AllNumbers(*each, fits); }, value)) {
    const auto kind = static_cast<SettingKind>(value.index());
    const bool list = kind == SettingKind::kIntegerList || kind == SettingKind::kNumberList;
    RefuseSetting(name, fmt::format("{}--{} must be {}", list ? "every number of " : "", name, range.Text()),
                  FieldText(value));
  }
}

void CheckChoice(std::string_view name, const std::string& text, std::span<const std::string> known) {
  WithSetting(name, [&] { IndexOfName(text, known, fmt::format("--{}: unknown choice", name)); });
}

void RefuseSetting(std::string_view setting, std::string message, std::string value, std::string remedy) {
  throw Error(ErrorCode::kInvalidArgument, std::move(message),
              {.value = std::move(value), .remedy = std::move(remedy), .setting = std::string(setting)});
}

Error About(std::string_view setting, const Error& error) {
  ErrorContext context = error.context();
  std::string message = error.message();
  if (context.setting.empty()) {
    context.setting = setting;
    if (message.find("--") == std::string::npos && context.file.empty()) {  // a reader of values, which knows no flags
      message = fmt::format("--{}: {}", setting, message);
    }
  }
  return {error.code(), std::move(message), std::move(context)};
}

}  // namespace lamina
