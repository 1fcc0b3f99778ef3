/* Preloaded into a program under test. Writes into LAMINA_RECORD, in order, what it does to files with relative names.
 * crash_consistency_test.py replays from it what a crash would have left. A path that begins with the working folder
 * counts as relative; files without a name are left out. A record is a line; behind "write" there are bytes:
 *   create INODE PATH | open INODE PATH | truncate INODE SIZE | write INODE OFFSET COUNT | sync INODE |
 *   syncfolder PATH | rename FROM TAB TO | exchange FROM TAB TO | link FROM TAB TO | unlink PATH
 * What is written through a mapping is recorded as one write of the whole file when the file is synced. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_FILES 1024
enum { kNone, kFile, kFolder };
static struct {
  int kind, mapped;
  unsigned long inode;
  char path[1024];
} files[MOST_FILES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_descriptor = -2;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void Put(const void* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const long n = syscall(SYS_write, log_descriptor, (const char*)data + done, size - done);
    if (n <= 0) {
      _exit(99);
    }
    done += (size_t)n;
  }
}

static void Record(const void* data, size_t size, const char* format, ...) {
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&mutex);
  if (log_descriptor == -2) {
    const char* path = getenv("LAMINA_RECORD");
    log_descriptor = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  }
  if (log_descriptor >= 0) {
    Put(line, (size_t)length);
    Put(data, size);
  }
  pthread_mutex_unlock(&mutex);
}

static int KindOf(int descriptor) { return descriptor >= 0 && descriptor < MOST_FILES ? files[descriptor].kind : kNone; }

/* The path as seen from the working folder; NULL for one of other folders. */
static const char* Relative(const char* path) {
  static char folder[4096];
  if (path[0] != '/') {
    return path;
  }
  if (folder[0] == '\0' && syscall(SYS_getcwd, folder, sizeof(folder)) < 0) {
    return NULL;
  }
  const size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && path[length] == '/' ? path + length + 1 : NULL;
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  const char* relative = (flags & O_TMPFILE) == O_TMPFILE ? NULL : Relative(path);
  struct stat info;
  const int is_new = relative != NULL && (flags & O_CREAT) != 0 && stat(path, &info) != 0;
  const int descriptor = NEXT(open)(path, flags, mode);
  if (relative == NULL || descriptor < 0 || descriptor >= MOST_FILES || fstat(descriptor, &info) != 0) {
    return descriptor;
  }
  files[descriptor].kind = S_ISDIR(info.st_mode) ? kFolder : S_ISREG(info.st_mode) ? kFile : kNone;
  files[descriptor].mapped = 0;
  files[descriptor].inode = info.st_ino;
  snprintf(files[descriptor].path, sizeof(files[descriptor].path), "%s", relative);
  if (files[descriptor].kind == kFile && (flags & O_ACCMODE) != O_RDONLY) {
    Record(NULL, 0, "%s %lu %s\n", is_new ? "create" : "open", files[descriptor].inode, relative);
    if (!is_new && (flags & O_TRUNC) != 0) {
      Record(NULL, 0, "truncate %lu 0\n", files[descriptor].inode);
    }
  }
  return descriptor;
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open(path, flags, mode);
}

int close(int descriptor) {
  if (KindOf(descriptor) != kNone) {
    files[descriptor].kind = kNone;
  }
  return NEXT(close)(descriptor);
}

ssize_t pwrite(int descriptor, const void* from, size_t size, off_t offset) {
  const ssize_t done = syscall(SYS_pwrite64, descriptor, from, size, offset);
  if (done > 0 && KindOf(descriptor) == kFile) {
    Record(from, (size_t)done, "write %lu %ld %zd\n", files[descriptor].inode, (long)offset, done);
  }
  return done;
}
ssize_t pwrite64(int descriptor, const void* from, size_t size, off64_t offset) { return pwrite(descriptor, from, size, offset); }

ssize_t write(int descriptor, const void* from, size_t size) {
  const long offset = KindOf(descriptor) == kFile ? lseek(descriptor, 0, SEEK_CUR) : -1;
  const ssize_t done = NEXT(write)(descriptor, from, size);
  if (done > 0 && offset >= 0) {
    Record(from, (size_t)done, "write %lu %ld %zd\n", files[descriptor].inode, offset, done);
  }
  return done;
}

int ftruncate(int descriptor, off_t size) {
  const int result = (int)syscall(SYS_ftruncate, descriptor, size);
  if (result == 0 && KindOf(descriptor) == kFile) {
    Record(NULL, 0, "truncate %lu %ld\n", files[descriptor].inode, (long)size);
  }
  return result;
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (KindOf(descriptor) == kFile && (protection & PROT_WRITE) != 0 && (flags & MAP_SHARED) != 0) {
    files[descriptor].mapped = 1;
  }
  return (void*)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int descriptor, off64_t offset) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

int fsync(int descriptor) {
  struct stat info;
  if (KindOf(descriptor) == kFile && files[descriptor].mapped && fstat(descriptor, &info) == 0 && info.st_size > 0) {
    char* content = malloc((size_t)info.st_size);
    if (content != NULL && syscall(SYS_pread64, descriptor, content, info.st_size, 0) == info.st_size) {
      Record(content, (size_t)info.st_size, "write %lu 0 %ld\n", files[descriptor].inode, (long)info.st_size);
    }
    free(content);
  }
  const int result = NEXT(fsync)(descriptor);
  if (result == 0 && KindOf(descriptor) == kFile) {
    Record(NULL, 0, "sync %lu\n", files[descriptor].inode);
  } else if (result == 0 && KindOf(descriptor) == kFolder) {
    Record(NULL, 0, "syncfolder %s\n", files[descriptor].path);
  }
  return result;
}

static void RecordNames(const char* what, const char* from, const char* to) {
  if (Relative(from) != NULL && Relative(to) != NULL) {
    Record(NULL, 0, "%s %s\t%s\n", what, Relative(from), Relative(to));
  }
}

int rename(const char* from, const char* to) {
  const int result = NEXT(rename)(from, to);
  if (result == 0) {
    RecordNames("rename", from, to);
  }
  return result;
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const int result = NEXT(renameat2)(from_folder, from, to_folder, to, flags);
  if (result == 0) {
    RecordNames((flags & RENAME_EXCHANGE) != 0 ? "exchange" : "rename", from, to);
  }
  return result;
}

int link(const char* from, const char* to) {
  const int result = NEXT(link)(from, to);
  if (result == 0) {
    RecordNames("link", from, to);
  }
  return result;
}

int unlink(const char* path) {
  const int result = NEXT(unlink)(path);
  if (result == 0 && Relative(path) != NULL) {
    Record(NULL, 0, "unlink %s\n", Relative(path));
  }
  return result;
}
