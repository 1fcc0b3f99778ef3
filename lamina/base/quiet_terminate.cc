// Replaces the runtime's handler of exceptions that nobody catches. That one prints their types and has 48 kB of
// readers of names for it. For the shared predict library, where libstdc++ is inside; none leaves its functions.
namespace __gnu_cxx {  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the runtime's own name

void __verbose_terminate_handler() {  // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
  __builtin_trap();
}

}  // namespace __gnu_cxx
