// Text forms of parameters.
#include "lamina/neuron/formula_parameters.h"

#include <fmt/format.h>

#include <cmath>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

// What a parameter must do instead; null: nothing.
const char* Refused(Domain domain, double value) {
  switch (domain) {
    case Domain::kAny: return nullptr;
    case Domain::kPositive: return value > 0 ? nullptr : "be positive";
    case Domain::kNotZero: return value != 0 ? nullptr : "not be 0";
    case Domain::kLevel: return value > 0 && value < 1 ? nullptr : "be above 0 and below 1";
    case Domain::kLevelOrNone: return value >= 0 && value < 1 ? nullptr : "be above 0 and below 1";
  }
  return nullptr;
}

}  // namespace

int FormulaParameters::Find(std::string_view name) const {
  for (size_t i = 0; i < count_; ++i) {
    if (name == names_[i]) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string FormulaParameters::Text() const {
  std::string text;
  for (size_t i = 0; i < count_; ++i) {
    if (domains_[i] == Domain::kLevelOrNone && values_[i] == 0) {
      continue;
    }
    text += fmt::format("{}{}={}", i == 0 ? "(" : ",", names_[i], values_[i]);
  }
  return count_ == 0 ? text : text + ")";
}

void FormulaParameters::Parse(std::string_view formula, std::string_view text) {
  const std::string whole = std::string(formula) + std::string(text);
  if (!text.starts_with('(') || !text.ends_with(')')) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("the parameters of {} must end in ')'", formula),
                {.value = whole});
  }
  for (const std::string_view part : SplitText(text.substr(1, text.size() - 2), ',')) {
    const size_t equals = part.find('=');
    const int i = Find(part.substr(0, equals));
    if (i < 0) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} has no such parameter", formula),
                  {.value = std::string(part)});
    }
    const double value = equals == std::string_view::npos ? std::nan("") : ParseNumber(part.substr(equals + 1));
    if (!std::isfinite(value)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("the {} of {} must be a finite number", names_[static_cast<size_t>(i)], formula),
                  {.value = std::string(part)});
    }
    Set(i, value);
  }
  for (size_t i = 0; i < count_; ++i) {
    if (const char* const must = Refused(domains_[i], values_[i])) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("the {} of {} must {}", names_[i], formula, must),
                  {.value = whole});
    }
  }
}

}  // namespace lamina
