// Any problem on any backend, instruction set and number of threads, compared with plain loops in double precision.
#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/tune/pass_run.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

// The instruction sets that kernels were compiled for and this processor has; 0: all of them.
std::vector<int64_t> Targets() {
  std::vector<int64_t> targets{0};
  for (int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1) {
    targets.push_back(bits & -bits);
  }
  return targets;
}

class HeldTo {
 public:
  explicit HeldTo(int64_t target) : target_(target) { hwy::SetSupportedTargetsForTest(target); }
  ~HeldTo() { hwy::SetSupportedTargetsForTest(0); }
  HeldTo(const HeldTo&) = delete;
  HeldTo& operator=(const HeldTo&) = delete;
  int64_t target() const { return target_; }

 private:
  int64_t target_;
};

// Mostly small sizes, and those around the blocks of kernels.
int64_t Size(Bytes& bytes) {
  const int64_t size = bytes.Below(256);
  return size < 128 ? 1 + size % 40 : size < 200 ? size : 240 + 7 * (size - 200);
}

void FuzzKernels(std::string_view input) {
  static const std::vector<int64_t> targets = Targets();
  Bytes bytes(input);
  Problem problem;
  problem.layer.synapse = static_cast<Synapse>(bytes.Below(4));
  problem.layer.activation = Activation();
  problem.layer.bias = !IsDistance(problem.layer.synapse);
  problem.pass = static_cast<Pass>(bytes.Below(3));
  problem.dtype = static_cast<DType>(bytes.Below(9));
  problem.precision = kPrecisions[static_cast<size_t>(bytes.Below(std::size(kPrecisions)))].value;
  problem.batch = Size(bytes);
  problem.layer.outputs = Size(bytes);
  problem.layer.inputs = Size(bytes);
  const BackendRow& row = BackendTable()[static_cast<size_t>(bytes.Below(std::ssize(BackendTable())))];
  const HeldTo held(targets[static_cast<size_t>(bytes.Below(std::ssize(targets)))]);
  const auto threads = static_cast<int>(1 + std::max<int64_t>(0, bytes.Below(8) - 5));  // mostly one: teams take longer
  if (row.name == "cuda" || !row.available()) {
    return;
  }
  constexpr int64_t kMostProducts = 200'000;  // plain loops with sanitizers take a tenth of a second for these
  if (problem.batch * problem.layer.outputs * problem.layer.inputs > kMostProducts) {
    return;
  }
  static std::map<std::tuple<std::string_view, int64_t, int>, std::unique_ptr<Backend>> made;
  std::unique_ptr<Backend>& backend = made[{row.name, held.target(), threads}];
  if (backend == nullptr) {
    backend = row.make({.threads = threads});
  }
  if (!backend->Supports(problem)) {
    return;
  }
  const PassVerdict verdict = PassRun(problem, *backend).Verify();
  Demand(verdict.verified, fmt::format("{} of {}: an error of {:g}, at most {:g}", problem.Text(), backend->Describe(),
                                       verdict.largest_error, verdict.error_bound));
}

const RegisteredTargets kernel_targets{{"kernels", &FuzzKernels}};

}  // namespace
}  // namespace lamina::fuzz
