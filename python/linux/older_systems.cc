// What systems with glibc 2.28 and GCC 8's C++ library lack of what a newer compiler asks for: docs/decisions/0121.
// Linked into the files of the wheel, whose other names stay in the versions that such systems have
// (scripts/older_systems).
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#define LAMINA_HERE extern "C" [[gnu::visibility("hidden")]]

#ifdef __x86_64__
#define LAMINA_OLDER(function, name) __asm__(".symver " #function "," #name "@GLIBC_2.2.5")
#define LAMINA_OLDER_STAT_AT "GLIBC_2.4"
constexpr int kStatVersion = 1;
#else
#define LAMINA_OLDER(function, name) __asm__(".symver " #function "," #name "@GLIBC_2.17")
#define LAMINA_OLDER_STAT_AT "GLIBC_2.17"
constexpr int kStatVersion = 0;
#endif

// What headers of glibc before 2.33 call for stat() and its kin.
extern "C" {
int OlderStat(int version, const char* path, struct stat* found);
int OlderLstat(int version, const char* path, struct stat* found);
int OlderFstat(int version, int descriptor, struct stat* found);
int OlderFstatat(int version, int folder, const char* path, struct stat* found, int flags);
LAMINA_OLDER(OlderStat, __xstat);
LAMINA_OLDER(OlderLstat, __lxstat);
LAMINA_OLDER(OlderFstat, __fxstat);
__asm__(".symver OlderFstatat,__fxstatat@" LAMINA_OLDER_STAT_AT);
}

namespace {

// The same moment by the clock of pthread_cond_timedwait(). Seconds stay seconds: a wait may be as long as numbers are.
timespec ByRealTime(clockid_t clock, const timespec& until) {
  constexpr long kSecond_ns = 1'000'000'000;
  timespec now{};
  timespec real{};
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  const long nanoseconds = real.tv_nsec + until.tv_nsec - now.tv_nsec;  // of -1 to 2 seconds
  const long seconds = nanoseconds < 0 ? -1 : nanoseconds / kSecond_ns;
  return {.tv_sec = real.tv_sec + until.tv_sec - now.tv_sec + seconds, .tv_nsec = nanoseconds - seconds * kSecond_ns};
}

}  // namespace

LAMINA_HERE int stat(const char* path, struct stat* found) noexcept { return OlderStat(kStatVersion, path, found); }
LAMINA_HERE int lstat(const char* path, struct stat* found) noexcept { return OlderLstat(kStatVersion, path, found); }
LAMINA_HERE int fstat(int descriptor, struct stat* found) noexcept {
  return OlderFstat(kStatVersion, descriptor, found);
}
LAMINA_HERE int fstatat(int folder, const char* path, struct stat* found, int flags) noexcept {
  return OlderFstatat(kStatVersion, folder, path, found, flags);
}

// Since 2.32: whether counters of shared pointers need no atomic operations. They do.
extern "C" {
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}

// Since 2.36. It ends the process where there are no random bytes, as glibc's does.
LAMINA_HERE uint32_t arc4random() noexcept {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) < 0) {
    if (errno != EINTR) {
      std::abort();
    }
  }
  return bits;
}

// Since 2.30.
LAMINA_HERE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
  const timespec moment = ByRealTime(clock, *until);
  return pthread_cond_timedwait(condition, mutex, &moment);
}
