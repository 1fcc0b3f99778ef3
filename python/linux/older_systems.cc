// The wheel of a Debian 12 would ask for glibc 2.35 and GCC 12's C++ library for these two functions alone. Their older
// versions, which do the same, make it a wheel for glibc 2.34 and GCC 11 (RHEL 9). The linker puts these in their place
// (--wrap).
#include <condition_variable>

#ifdef __x86_64__
#define LAMINA_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define LAMINA_FIRST_GLIBC "GLIBC_2.17"
#endif

extern "C" {

double OlderHypot(double x, double y);
__asm__(".symver OlderHypot,hypot@" LAMINA_FIRST_GLIBC);
[[gnu::visibility("hidden")]] double __wrap_hypot(double x, double y) { return OlderHypot(x, y); }

void OlderWait(std::condition_variable* self, std::unique_lock<std::mutex>& lock);
__asm__(".symver OlderWait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
[[gnu::visibility("hidden")]] void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* self, std::unique_lock<std::mutex>& lock) {
  OlderWait(self, lock);
}

}  // extern "C"
