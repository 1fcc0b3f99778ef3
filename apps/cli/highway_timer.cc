// What Highway's library measures while it is loaded: how fine the processor's clock is, for benchmarks that nobody
// here runs. That takes 3 ms, half of a start, so the program answers in its place.
#include <cstdint>

namespace hwy::platform {

uint64_t TimerResolution();  // the name that the library asks for (hwy/nanobenchmark.h)
uint64_t TimerResolution() { return 1; }

}  // namespace hwy::platform
