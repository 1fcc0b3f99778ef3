/* Answers one row many times and says how many instructions each took, by SysTick. With -icount shift=6 an instruction
 * takes 64 ns; the clock of the machine (CLOCK_PS, picoseconds) tells how long that was. -DHEADER and -DCALL say what
 * is asked, -DINPUT and -DOUTPUT with which types. */
#include <stdint.h>
#include HEADER

#define CONTROL (*(volatile uint32_t*)0xE000E010)
#define RELOAD (*(volatile uint32_t*)0xE000E014)
#define CURRENT (*(volatile uint32_t*)0xE000E018)

int Semihosted(int call, const void* argument);

static INPUT row[64];
static volatile OUTPUT outputs[16];

static void Say(uint32_t number) {
  char text[12];
  char* at = text + sizeof(text);
  *--at = '\0';
  *--at = '\n';
  do {
    *--at = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  Semihosted(4, at); /* SYS_WRITE0 */
}

int main(void) {
  uint32_t ticks;
  int i;
  for (i = 0; i < 64; ++i)
    row[i] = (INPUT)(i * 37 % 17);
  RELOAD = 0xFFFFFF;
  CURRENT = 0;
  CONTROL = 5; /* on, by the processor's clock */
  ticks = CURRENT;
  CALL;
  ticks = (ticks - CURRENT) & 0xFFFFFF;
  Say((uint32_t)((uint64_t)ticks * CLOCK_PS / 64000));
  return 0;
}
