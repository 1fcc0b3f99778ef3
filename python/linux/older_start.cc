// The start of a program on systems with glibc before 2.34, which leave it to the program to call its constructors.
// Newer ones do as a program of that time asks, too.
#include <cstddef>

extern "C" {

using Main = int(int, char**, char**);
using Function = void(int, char**, char**);
extern Function* __init_array_start[];
extern Function* __init_array_end[];
void _init();

int OlderStart(Main* main, int count, char** words, Function* constructors, void (*destructors)(), void (*loader_end)(),
               void* stack);
#ifdef __x86_64__
__asm__(".symver OlderStart,__libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver OlderStart,__libc_start_main@GLIBC_2.17");
#endif

static void CallConstructors(int count, char** words, char** variables) {
  _init();
  for (Function** each = __init_array_start; each != __init_array_end; ++each) {
    (*each)(count, words, variables);
  }
}

// What crt1.o calls.
[[gnu::visibility("hidden")]] int __libc_start_main(Main* main, int count, char** words, Function* /*constructors*/,
                                                    void (*destructors)(), void (*loader_end)(), void* stack) {
  return OlderStart(main, count, words, CallConstructors, destructors, loader_end, stack);
}

}  // extern "C"
