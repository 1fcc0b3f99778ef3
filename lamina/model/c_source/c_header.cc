// Declarations.
#include "lamina/model/c_source/c_header.h"

#include <algorithm>

#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/model/c_source/c_answer.h"
#include "lamina/model/c_source/c_inputs.h"

namespace lamina {
namespace {

constexpr size_t kShownCategories = 6;

std::string WhatItHolds(const CColumn& column) {
  if (column.is_text) {
    const FittedColumn& fitted = *column.fitted;
    std::string text = fitted.IsWords() ? "text" : "one of";
    for (size_t i = 0; i < std::min(kShownCategories, fitted.categories.size()); ++i) {
      text += fmt::format("{} \"{}\"", i == 0 ? "" : ",", fitted.categories[i]);
    }
    return fitted.categories.size() > kShownCategories ? text + ", ..." : text;
  }
  std::string text = column.is_date ? "a date: days since 1970-01-01" : "a number";
  if (column.fitted != nullptr && column.fitted->span) {
    text += fmt::format(", {:.6g} to {:.6g} in training", column.fitted->span->low, column.fitted->span->high);
  }
  return column.fitted != nullptr && !column.fitted->format.unit.empty() ? text + ", in " + column.fitted->format.unit
                                                                         : text;
}

void AddPlaces(CWriter& out, const CColumns& columns, bool texts) {
  const int64_t count = texts ? columns.texts : columns.numbers;
  if (count == 0) {
    return;
  }
  out.Add("/* Where a row has its {}. */\nenum {{\n", texts ? "texts" : "numbers");
  for (const CColumn& column : columns.columns) {
    if (column.is_text == texts) {
      out.Add("  {} = {}{} /* {}: {} */\n", column.constant, column.place, column.place + 1 < count ? "," : "",
              CComment(column.name), CComment(WhatItHolds(column)));
    }
  }
  out.Add("}};\n\n");
}

void AddPlacesOf(CWriter& out, const char* what, const std::vector<std::string>& names) {
  CNames constants(fmt::format("{}_{}_", out.name(), what));
  out.Add("enum {{\n");
  for (size_t i = 0; i < names.size(); ++i) {
    out.Add("  {} = {}{} /* {} */\n", constants.Add(names[i], static_cast<int64_t>(i)), i,
            i + 1 < names.size() ? "," : "", CComment(names[i]));
  }
  out.Add("}};\n\n");
}

bool HasDates(const CColumns& columns) {
  return std::any_of(columns.columns.begin(), columns.columns.end(),
                     [](const CColumn& column) { return column.is_date; }) ||
         std::any_of(columns.derived.begin(), columns.derived.end(),
                     [](const Derivation& derived) { return derived.function->of_date; });
}

}  // namespace

std::string SizesText(const CWriter& out) {
  std::string text = fmt::format(
      " * Constants (flash): {} bytes; names, where they are asked for: {} bytes. Arrays on the stack (RAM): {} "
      "bytes.\n"
      " * A row:",
      WithThousands(out.constant_bytes), WithThousands(out.name_bytes), WithThousands(out.stack_bytes));
  const auto add = [&](int64_t count, const char* what) {
    if (count > 0) {
      text += fmt::format("{} {} {}", text.back() == ':' ? "" : ",", WithThousands(count), what);
    }
  };
  add(out.work.products, "multiplications and additions");
  add(out.work.differences, "differences");
  add(out.work.curves, "curves");
  return text + ".\n";
}

std::string DaysDeclaration(const CColumns& columns) {
  return HasDates(columns)
             ? "/* Days from 1970-01-01 to a date (year, month 1 to 12, day 1 to 31); add hours / 24.0, in UTC. */\n"
               "double @_days(int year, int month, int day);\n\n"
             : "";
}

void AddDays(CWriter& out, const CColumns& columns) {
  if (!HasDates(columns)) {
    return;
  }
  out.AddText(
      "double @_days(int year, int month, int day) {\n"
      "  const int32_t y = (int32_t)year - (month <= 2 ? 1 : 0);\n"
      "  const int32_t era = (y >= 0 ? y : y - 399) / 400;\n"
      "  const int32_t of_era = y - era * 400;\n"
      "  const int32_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;\n"
      "  return (double)(era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468);\n"
      "}\n\n");
}

std::string HeaderOf(const Model& model, const CColumns& columns, const std::string& name, const CHeaderParts& parts) {
  CWriter out(name, model.network.dtype());
  const std::string upper = UpperCName(name);
  const std::vector<std::string>& classes = model.preprocessor.targets().class_names();
  out.AddText(parts.about);
  out.Add("#ifndef {0}_H_\n#define {0}_H_\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
          upper);
  out.Add(
      "#define {}_COLUMNS {}\n#define {}_NUMBERS {} /* of them */\n#define {}_TEXTS {} /* of them */\n"
      "#define {}_OUTPUTS {}\n#define {}_CLASSES {}\n\n",
      upper, columns.columns.size(), upper, columns.numbers, upper, columns.texts, upper, model.network.outputs(),
      upper, classes.size());
  AddPlaces(out, columns, false);
  AddPlaces(out, columns, true);
  if (!classes.empty()) {
    out.Add("/* The classes. */\n");
    AddPlacesOf(out, "class", classes);
  } else {
    out.Add("/* The outputs. */\n");
    AddPlacesOf(out, "output", NamesOfOutputs(model));
  }
  out.Add(
      "/* Names as the training data had them; columns in its order, numbers and texts. */\n"
      "extern const char *const @_column_names[{0}_COLUMNS];\nextern const char *const @_{1}_names[{0}_{2}];\n",
      upper, classes.empty() ? "output" : "class", classes.empty() ? "OUTPUTS" : "CLASSES");
  out.AddText("\n" + parts.functions);
  out.Add("#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {}_H_ */\n", upper);
  return out.text();
}

}  // namespace lamina
