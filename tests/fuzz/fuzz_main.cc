// libFuzzer's entry: runs the target that LAMINA_FUZZ_TARGET names.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/fuzz_target.h"

namespace {

const lamina::fuzz::FuzzTarget& Chosen() {
  const char* name = std::getenv("LAMINA_FUZZ_TARGET");
  const lamina::fuzz::FuzzTarget* target = lamina::fuzz::FindFuzzTarget(name == nullptr ? "" : name);
  if (target == nullptr) {
    for (const lamina::fuzz::FuzzTarget& each : lamina::fuzz::FuzzTargets()) {
      std::printf("%.*s\n", static_cast<int>(each.name.size()), each.name.data());
    }
    std::fflush(stdout);
    std::_Exit(name == nullptr ? 0 : 2);  // not exit(): libFuzzer takes that for a finding
  }
  return *target;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const lamina::fuzz::FuzzTarget& target = Chosen();
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
