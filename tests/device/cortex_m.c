/* What stands before main() on a Cortex-M: vectors, the unit of floats where there is one, variables. Ends by
 * semihosting, so that the emulator ends, too. */
#include <stdint.h>

extern uint32_t stack_top[], data_stored[], data_begin[], data_end[], bss_begin[], bss_end[];
extern int main(void);
extern void initialise_monitor_handles(void) __attribute__((weak)); /* of newlib: printf */
extern void exit(int status) __attribute__((weak, noreturn));

int Semihosted(int call, const void* argument) {
  register int r0 __asm__("r0") = call;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

static void End(int status) {
  const uint32_t why[2] = {0x20026, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
  if (exit)
    exit(status); /* writes what printf keeps */
  Semihosted(0x20, why);
  for (;;) {
  }
}

void Start(void) {
  uint32_t *to, *from = data_stored;
#ifdef __ARM_FP
  *(volatile uint32_t*)0xE000ED88 |= 0xFU << 20; /* CPACR: floats may be used */
#endif
  for (to = data_begin; to < data_end;)
    *to++ = *from++;
  for (to = bss_begin; to < bss_end;)
    *to++ = 0;
  if (initialise_monitor_handles)
    initialise_monitor_handles();
  End(main());
}

static void Fault(void) { End(3); }

void _init(void) {}
void _fini(void) {}

__attribute__((section(".vectors"), used)) static const void* const vectors[16] = {
    stack_top, (const void*)Start, (const void*)Fault, (const void*)Fault};
