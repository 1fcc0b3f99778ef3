// Rows with the same inputs (twins): what models leave of some of them tells of the others (docs/decisions/0133).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/buffer.h"
#include "lamina/data/encode/dataset.h"
#include "lamina/nn/network.h"

namespace lamina {

/// Targets less answers by models that have not seen the row, of encoded numbers.
struct RestOfRows {
  Matrix all;  // f64, rows × outputs: means of all cuts into folds
  Matrix cut;  // f64, rows × outputs: of the first cut, alone
};

struct Twins {
  Network network;       // of narrow L1 neurons, one for all rows with the same inputs; adds to the models' answers
  Matrix told;           // f64, rows × outputs: what its twins tell of a row; 0 where it has none
  int64_t rows = 0;      // that have a twin
  double agreement = 0;  // the share of what models leave of a row that its twin has, too

  /// "312 rows have others with the same inputs: 97 % of what ..."
  std::string Text() const;
};

/// The rows that the folds of the first cut test.
class TwinSearch {
 public:
  /// `test`: of that fold of the first cut, with its inputs. These are copied where they are few enough for Find().
  /// Folds come in any order.
  void Keep(size_t fold, const Dataset& test);

  /// `rest`: in the order of the table's rows. None where less than 40 rows have twins, or inputs times rows are above
  /// 400,000. Twins must surely tell of each other, and of a tenth of the variance at least.
  std::optional<Twins> Find(const RestOfRows& rest) const;

 private:
  std::vector<Matrix> inputs_;  // of each fold
  std::vector<std::vector<int64_t>> rows_;
};

}  // namespace lamina
