// The raw columns of a model as its C source takes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lamina/data/encode/derive.h"
#include "lamina/model/c_source/c_writer.h"
#include "lamina/model/model.h"

namespace lamina {

/// A value that a row must have.
struct CColumn {
  std::string name;
  std::string constant;  // of the enumeration: its place in `numbers` or `texts`
  bool is_text = false;
  bool is_date = false;
  int64_t place = 0;                     // among the numbers, or among the texts
  const FittedColumn* fitted = nullptr;  // null: only derived columns are made of it
};

/// All of them, in the order of cells (CellColumnsOf); of a network without preprocessing its inputs.
struct CColumns {
  std::vector<CColumn> columns;
  std::vector<Derivation> derived;         // those that inputs are made of, in the order of their making
  std::vector<double> missing_numbers;     // that stand for a missing value
  std::vector<std::string> missing_words;  // the model's own, in lower case
  int64_t numbers = 0;
  int64_t texts = 0;

  const CColumn* Find(const std::string& name) const;
};

/// `name`: of the C code.
CColumns CColumnsOf(const Model& model, const std::string& name);

}  // namespace lamina
