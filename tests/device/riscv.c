/* Answers one row TIMES times on a RISC-V without any system around it but the call to end: what an emulator counts of
 * two runs that differ by one row is what a row takes. -DHEADER, -DCALL, -DINPUT and -DOUTPUT as for measure.c. */
#include <stdint.h>
#include HEADER

static INPUT row[64];
static volatile OUTPUT outputs[16];

void _start(void) {
  int i;
  for (i = 0; i < 64; ++i)
    row[i] = (INPUT)(i * 37 % 17);
  for (i = 0; i < TIMES; ++i)
    CALL;
  __asm__ volatile("li a0, 0\n\tli a7, 93\n\tecall" : : : "a0", "a7", "memory"); /* exit */
  for (;;) {
  }
}
