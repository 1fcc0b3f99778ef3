// What a run takes beside its rows, in round numbers; what is left is for windows of rows.
#include "lamina/run/memory_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr int64_t kProgram_bytes = 64 << 20;  // program, libraries, panels of packed operands
constexpr int64_t kBytesOfRow = 28;           // its place in the order, its class, its share of what reading them needs
constexpr int64_t kCopiesOfParameters = 4;    // in the model, in training, of the best epoch; the gradient
constexpr int64_t kWindows = 3;               // one that is computed, one that is filled, the pages it is read from
constexpr int64_t kLeastRows = 1024;          // of a window

}  // namespace

int64_t WindowRows(int64_t limit_bytes, int64_t train_rows, const Network& network, const TrainOptions& options) {
  const int64_t element_bytes = DTypeSize_bytes(network.dtype());
  const int64_t widest = std::accumulate(
      network.layers().begin(), network.layers().end(), network.inputs(),
      [](int64_t sum, const LayerSpec& layer) { return sum + 2 * layer.outputs; });  // outputs and deltas of a batch
  const int64_t row_bytes = (network.inputs() + network.outputs() + 1) * element_bytes;
  const int64_t fixed_bytes = kProgram_bytes + kBytesOfRow * train_rows +
                              (kCopiesOfParameters + options.StateCount()) * network.parameter_bytes() +
                              std::max<int64_t>(options.batch, kLeastRows) * widest * element_bytes;
  const int64_t left_bytes = limit_bytes - fixed_bytes;
  if (left_bytes >= train_rows * row_bytes) {
    return 0;
  }
  const int64_t batch = std::min(options.batch, train_rows);
  const int64_t least_rows = (kLeastRows + batch - 1) / batch * batch;
  const int64_t window = left_bytes / kWindows / row_bytes / batch * batch;
  if (window < least_rows) {
    const int64_t least_bytes = fixed_bytes + kWindows * least_rows * row_bytes;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--memory is too little: training on these rows takes {} at least", BytesText(least_bytes)),
                {.value = BytesText(limit_bytes),
                 .remedy = fmt::format("Give --memory {}M or more, a smaller network or a smaller batch.",
                                       least_bytes / 1'000'000 + 1)});
  }
  return window;
}

}  // namespace lamina
