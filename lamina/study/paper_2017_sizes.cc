// Sizes of the study.
#include "lamina/study/paper_2017_sizes.h"

#include <algorithm>

namespace lamina {

Paper2017Sizes Paper2017Sizes::Full() {
  Paper2017Sizes sizes;
  sizes.sweep_sizes = {65536, 4096, 2048, 1024, 512, 256, 128, 64};
  sizes.sweep_blocks = {512, 256, 128, 64, 32, 16};
  for (int64_t n = 1; n <= 65536; n *= 2) {
    sizes.inputs.push_back(n);
  }
  return sizes;
}

Paper2017Sizes Paper2017Sizes::Quick() {
  Paper2017Sizes sizes;
  sizes.layer = 1024;
  sizes.sweep_sizes = {1024, 256, 64};
  sizes.sweep_blocks = {256, 64, 16};
  sizes.inputs = {1, 8, 64, 256, 1024, 4096, 16384, 65536};
  sizes.square = 500;
  sizes.classifier_rows = 2000;
  return sizes;
}

int64_t Paper2017Sizes::LayerFor(int64_t n) const {
  int64_t m = layer;
  for (int64_t limit = 1024; limit < n; limit *= 4) {
    m /= 2;
  }
  return std::max<int64_t>(1, m);
}

}  // namespace lamina
