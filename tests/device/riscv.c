/* Answers one row TIMES times on a RISC-V with no system around it but the call to end. Two runs that differ by one row
 * tell what a row takes, by an emulator's counts. -DHEADER, -DCALL, -DINPUT, -DOUTPUT as for measure.c. */
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
