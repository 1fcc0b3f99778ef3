/* Preloaded into a program under test: fails the n-th system call of a kind that concerns a file of the working folder.
 *
 * LAMINA_FAULT="KIND N ERRNO [MARK]". KIND: open, read, write, fsync, rename, link, mmap, fallocate, ftruncate, close.
 * N counts from 1. ERRNO 0 shortens reads and writes to one byte. MARK: a file that is made when the call fails.
 * Other folders' files are left alone: they are the system's. "alloc N" is the N-th allocation after the first of those
 * files was opened. Allocations before main belong to other libraries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_FILES 1024
static atomic_int watched[MOST_FILES];
static atomic_long seen;
static atomic_int began;

static struct {
  int ready, code;
  long number;
  char kind[16], mark[4096];
} fault;

static void ReadFault(void) {
  if (fault.ready) {
    return;
  }
  fault.ready = 1;
  const char* text = getenv("LAMINA_FAULT");
  if (text == NULL || sscanf(text, "%15s %ld %d %4095s", fault.kind, &fault.number, &fault.code, fault.mark) < 3) {
    fault.kind[0] = '\0';
  }
}

/* Whether this call is the one. */
static int Fails(const char* kind) {
  ReadFault();
  if (strcmp(kind, fault.kind) != 0 || atomic_fetch_add(&seen, 1) + 1 != fault.number) {
    return 0;
  }
  if (fault.mark[0] != '\0') {
    const long mark = syscall(SYS_openat, AT_FDCWD, fault.mark, O_CREAT | O_WRONLY, 0600);
    if (mark >= 0) {
      syscall(SYS_close, mark);
    }
  }
  errno = fault.code;
  return 1;
}

static int IsWatched(int descriptor) { return descriptor >= 0 && descriptor < MOST_FILES && atomic_load(&watched[descriptor]); }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Whether a file is of the folder that the program was started in. */
static int IsOurs(const char* path) {
  static char folder[4096];
  if (path[0] != '/') {
    return 1;
  }
  if (folder[0] == '\0' && syscall(SYS_getcwd, folder, sizeof(folder)) < 0) {
    return 0;
  }
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static int Opened(const char* path, int descriptor) {
  if (IsOurs(path) && descriptor >= 0 && descriptor < MOST_FILES) {
    atomic_store(&watched[descriptor], 1);
  }
  return descriptor;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  atomic_store(&began, atomic_load(&began) || IsOurs(path));
  if (IsOurs(path) && (flags & O_DIRECTORY) == 0 && Fails("open")) {
    return -1;
  }
  return Opened(path, NEXT(open)(path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}

int close(int descriptor) {
  const int fails = IsWatched(descriptor) && Fails("close");
  if (descriptor >= 0 && descriptor < MOST_FILES) {
    atomic_store(&watched[descriptor], 0);
  }
  const int result = NEXT(close)(descriptor);
  if (fails) {  /* as close(2) does it: the descriptor is gone all the same */
    errno = fault.code;
    return -1;
  }
  return result;
}

ssize_t read(int descriptor, void* to, size_t size) {
  if (IsWatched(descriptor) && size > 1 && Fails("read")) {
    if (fault.code != 0) {
      return -1;
    }
    size = 1;
  }
  return NEXT(read)(descriptor, to, size);
}

ssize_t write(int descriptor, const void* from, size_t size) {
  if (IsWatched(descriptor) && size > 1 && Fails("write")) {
    if (fault.code != 0) {
      return -1;
    }
    size = 1;
  }
  return NEXT(write)(descriptor, from, size);
}

int fsync(int descriptor) { return IsWatched(descriptor) && Fails("fsync") ? -1 : NEXT(fsync)(descriptor); }

int rename(const char* from, const char* to) { return IsOurs(to) && Fails("rename") ? -1 : NEXT(rename)(from, to); }
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return IsOurs(to) && Fails("rename") ? -1 : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) { return IsOurs(to) && Fails("link") ? -1 : NEXT(link)(from, to); }

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return IsWatched(descriptor) && Fails("mmap")
             ? MAP_FAILED
             : (void*)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return IsWatched(descriptor) && Fails("fallocate") ? -1 : (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) { return fallocate(descriptor, mode, offset, size); }

int ftruncate(int descriptor, off_t size) {
  return IsWatched(descriptor) && Fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

/* operator new asks malloc; the C library's own calls do not come here. */
extern void* __libc_malloc(size_t);
static __thread int inside;
void* malloc(size_t size) {
  if (!inside && atomic_load(&began)) {
    inside = 1;
    const int fails = Fails("alloc");
    inside = 0;
    if (fails) {
      errno = ENOMEM;
      return NULL;
    }
  }
  return __libc_malloc(size);
}
