// How large the parts of the study of 2017 are.
#pragma once

#include <cstdint>
#include <vector>

namespace lamina {

/// How large everything is.
struct Paper2017Sizes {
  int64_t layer = 4096;  // M = N up to 1024 inputs, halved for every factor of 4 beyond (as in Table III)
  int64_t figure4_inputs = 1024;
  std::vector<int64_t> sweep_sizes;   // M of Tables I and II
  std::vector<int64_t> sweep_blocks;  // B
  std::vector<int64_t> inputs;        // n of Figures 5 to 7
  int64_t square = 1000;              // of Table IV
  int64_t classifier_rows = 10000;

  static Paper2017Sizes Full();
  static Paper2017Sizes Quick();
  /// M for n inputs.
  int64_t LayerFor(int64_t n) const;
};

}  // namespace lamina
