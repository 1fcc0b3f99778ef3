// Text form of plans.
#include "lamina/backend/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lamina/backend/product_kernels.h"
#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

constexpr std::string_view kLibrary = "cublaslt";  // may name one of its algorithms: "cublaslt:2"
// Beside kProductKernels. Older profiles name "onednn": a layer goes by its own rule then.
constexpr std::string_view kKernels[] = {"tile", "dots", "amx", "onednn", kLibrary};
constexpr int64_t kMost = int64_t{1} << 40;

bool IsKernel(std::string_view name) {
  if (name.starts_with(kLibrary) && name.substr(kLibrary.size()).starts_with(':')) {
    return ParseInteger(name.substr(kLibrary.size() + 1)).value_or(-1) >= 0;
  }
  return FindKernel(name) || std::find(std::begin(kKernels), std::end(kKernels), name) != std::end(kKernels);
}

[[noreturn]] void ThrowBad(std::string_view word) {
  throw Error(ErrorCode::kInvalidArgument, "not a part of a plan",
              {.value = std::string(word),
               .remedy = "Write for example kernel=tile tile=8x3 depth=1024 cache=524288 threads=2."});
}

int64_t Positive(std::string_view text, std::string_view word) {
  const auto value = ParseInteger(text);
  if (!value || *value < 1 || *value > kMost) {
    ThrowBad(word);
  }
  return *value;
}

}  // namespace

std::string Plan::Text() const {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : " ") + std::move(part); };
  if (!kernel.empty()) {
    add("kernel=" + kernel);
  }
  if (tile_rows > 0) {
    add(fmt::format("tile={}x{}", tile_rows, tile_vectors));
  }
  if (depth > 0) {
    add(fmt::format("depth={}", depth));
  }
  if (cache_bytes > 0) {
    add(fmt::format("cache={}", cache_bytes));
  }
  if (threads > 0) {
    add(fmt::format("threads={}", threads));
  }
  if (asymmetry > 0) {
    add(fmt::format("asymmetry={}", asymmetry));
  }
  return text.empty() ? "estimate" : text;
}

Plan Plan::Parse(std::string_view text) {
  Plan plan;
  if (text == "estimate") {
    return plan;
  }
  for (const std::string_view word : SplitText(text, ' ')) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      ThrowBad(word);
    }
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (name == "kernel" && IsKernel(value)) {
      plan.kernel = value;
    } else if (name == "tile") {
      const size_t cross = value.find('x');
      plan.tile_rows = Positive(value.substr(0, cross), word);
      plan.tile_vectors = Positive(cross == std::string_view::npos ? "" : value.substr(cross + 1), word);
    } else if (name == "depth") {
      plan.depth = Positive(value, word);
    } else if (name == "cache") {
      plan.cache_bytes = Positive(value, word);
    } else if (name == "threads") {
      plan.threads = Positive(value, word);
    } else if (name == "asymmetry") {
      const double number = ParseNumber(value);
      if (!(number > 0 && number < 1e6)) {
        ThrowBad(word);
      }
      plan.asymmetry = number;
    } else {
      ThrowBad(word);
    }
  }
  return plan;
}

}  // namespace lamina
