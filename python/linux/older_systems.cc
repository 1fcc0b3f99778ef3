// What systems with glibc 2.28 and GCC 8's C++ library lack of what a newer compiler asks for: docs/decisions/0121.
// Linked into the files of the wheel, whose other names stay in the versions that such systems have
// (scripts/older_systems).
#include <pthread.h>
#include <sys/stat.h>

#include <cstdint>
#include <ctime>

#define LAMINA_HERE extern "C" [[gnu::visibility("hidden")]]

// glibc 2.33 has functions of these names; older headers made calls with a version of them.
extern "C" {
int __xstat(int version, const char* path, struct stat* found);
int __lxstat(int version, const char* path, struct stat* found);
int __fxstat(int version, int descriptor, struct stat* found);
int __fxstatat(int version, int folder, const char* path, struct stat* found, int flags);
}

namespace {

#ifdef __x86_64__
constexpr int kStatVersion = 1;
#else
constexpr int kStatVersion = 0;
#endif
constexpr int64_t kSecond_ns = 1'000'000'000;

int64_t Time_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond_ns + now.tv_nsec;
}

// The same moment by the clock of pthread_cond_timedwait().
timespec ByRealTime(clockid_t clock, const timespec& until) {
  const int64_t left_ns = until.tv_sec * kSecond_ns + until.tv_nsec - Time_ns(clock);
  const int64_t moment_ns = Time_ns(CLOCK_REALTIME) + left_ns;
  return {.tv_sec = moment_ns / kSecond_ns, .tv_nsec = moment_ns % kSecond_ns};
}

}  // namespace

LAMINA_HERE int stat(const char* path, struct stat* found) noexcept { return __xstat(kStatVersion, path, found); }
LAMINA_HERE int lstat(const char* path, struct stat* found) noexcept { return __lxstat(kStatVersion, path, found); }
LAMINA_HERE int fstat(int descriptor, struct stat* found) noexcept { return __fxstat(kStatVersion, descriptor, found); }
LAMINA_HERE int fstatat(int folder, const char* path, struct stat* found, int flags) noexcept {
  return __fxstatat(kStatVersion, folder, path, found, flags);
}

// Since 2.32: whether counters of shared pointers need no atomic operations. They do.
extern "C" {
[[gnu::visibility("hidden")]] char __libc_single_threaded = 0;
}

// Since 2.30.
LAMINA_HERE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                       const timespec* until) {
  const timespec moment = ByRealTime(clock, *until);
  return pthread_cond_timedwait(condition, mutex, &moment);
}
