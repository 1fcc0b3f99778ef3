// Columns in the order of cells, and the derived ones between them.
#include "lamina/model/c_source/c_columns.h"

#include <algorithm>
#include <set>

#include "lamina/base/utf8.h"
#include "lamina/data/files/reader.h"
#include "lamina/data/files/text_numbers.h"
#include "lamina/model/cell_rows.h"

namespace lamina {
namespace {

// The derived columns that the inputs need, directly or through others.
std::vector<Derivation> NeededDerivations(const Preprocessor& preprocessor, const std::vector<CellColumn>& raw) {
  std::set<std::string> needed;
  for (const FittedColumn& column : preprocessor.inputs().columns()) {
    needed.insert(column.name);
  }
  for (const CellColumn& column : raw) {
    needed.erase(column.name);
  }
  std::vector<Derivation> made;
  const std::vector<std::string>& all = preprocessor.derive().columns;
  for (size_t i = all.size(); i-- > 0;) {
    const Derivation derivation = ParseDerivation(all[i]);
    if (needed.contains(derivation.name)) {
      needed.insert(derivation.column);
      needed.insert(derivation.other);
      made.insert(made.begin(), derivation);
    }
  }
  return made;
}

void AddMissing(const Preprocessor& preprocessor, CColumns& columns) {
  ReadOptions options;
  preprocessor.AddTo(options);
  for (std::string mark : options.missing_values) {
    double value = 0;
    if (ParseWholeNumber(mark, value)) {
      columns.missing_numbers.push_back(value);
    }
    std::transform(mark.begin(), mark.end(), mark.begin(), &AsciiLower);
    columns.missing_words.push_back(mark);
  }
}

}  // namespace

const CColumn* CColumns::Find(const std::string& name) const {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const CColumn& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

CColumns CColumnsOf(const Model& model, const std::string& name) {
  CColumns all;
  CNames number_names(name + "_in_");
  CNames text_names(name + "_text_");
  const auto add = [&](const std::string& column, const FittedColumn* fitted) {
    const bool is_text = fitted != nullptr && fitted->kind == ColumnKind::kText;
    int64_t& count = is_text ? all.texts : all.numbers;
    const bool is_date = fitted != nullptr && fitted->is_date;
    const std::string constant = (is_text ? text_names : number_names).Add(column, std::ssize(all.columns));
    all.columns.push_back({column, constant, is_text, is_date, count++, fitted});
  };
  if (model.preprocessor.inputs().count() == 0) {
    for (int64_t i = 0; i < model.network.inputs(); ++i) {
      add("x" + std::to_string(i), nullptr);
    }
    return all;
  }
  const std::vector<CellColumn> raw = CellColumnsOf(model);
  for (const CellColumn& column : raw) {
    add(column.name, column.fitted);
  }
  all.derived = NeededDerivations(model.preprocessor, raw);
  AddMissing(model.preprocessor, all);
  return all;
}

}  // namespace lamina
