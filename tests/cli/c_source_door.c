/* Asks the C source of a model about rows of cells in the arguments: numbers as such ("nan": missing), texts as they
 * are ("": missing). A line for each row: "code" and its number, or the outputs and the class. -DHEADER, -DNAME and
 * -DUPPER say which model; -DINT8 says that its outputs are whole numbers. */
#include HEADER

#include <stdio.h>
#include <stdlib.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define COLUMNS JOIN(UPPER, COLUMNS)
#define NUMBERS JOIN(UPPER, NUMBERS)
#define TEXTS JOIN(UPPER, TEXTS)
#define OUTPUTS JOIN(UPPER, OUTPUTS)

#ifdef INT8
typedef int32_t output;
#else
typedef double output;
#endif

/* Cells of a row are numbers and then texts. */
static int ask(char **cells, output *outputs) {
#if NUMBERS > 0
  double numbers[NUMBERS];
#endif
#if TEXTS > 0
  const char *texts[TEXTS];
#endif
  int i;
  (void)i;
#if NUMBERS > 0
  for (i = 0; i < NUMBERS; ++i)
    numbers[i] = strtod(cells[i], NULL);
#endif
#if TEXTS > 0
  for (i = 0; i < TEXTS; ++i)
    texts[i] = cells[NUMBERS + i];
#endif
#if NUMBERS > 0 && TEXTS > 0
  return JOIN(NAME, predict)(numbers, texts, outputs);
#elif NUMBERS > 0
  return JOIN(NAME, predict)(numbers, outputs);
#else
  return JOIN(NAME, predict)(texts, outputs);
#endif
}

int main(int argc, char **argv) {
  int at, j;
  for (at = 1; at + COLUMNS <= argc; at += COLUMNS) {
    output outputs[OUTPUTS];
    const int code = ask(argv + at, outputs);
    if (code != 0) {
      printf("code %d\n", code);
      continue;
    }
    for (j = 0; j < OUTPUTS; ++j) {
#ifdef INT8
      printf("%s%.17g", j == 0 ? "" : ",", JOIN(NAME, value)(outputs, j));
#else
      printf("%s%.17g", j == 0 ? "" : ",", outputs[j]);
#endif
    }
#ifdef CLASSES
    printf(",%s", JOIN(NAME, class_names)[JOIN(NAME, class_of)(outputs)]);
#endif
    printf("\n");
  }
  return 0;
}
