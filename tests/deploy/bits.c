/* Every bit of what lamina.h says. bits MODEL prints the names of its columns. bits MODEL CELL... prints outputs
 * (hexadecimal), class and notes of rows of texts, and of the same rows as numbers where all cells are numbers. Built
 * with the whole library and with the one that only answers. */
#include <stdio.h>
#include <stdlib.h>

#include "lamina/lamina.h"

static void PrintOutputs(const lamina_model* model, int64_t rows, const double* outputs) {
  const int64_t width = lamina_outputs(model);
  int64_t i, j;
  for (i = 0; i < rows; ++i) {
    const int64_t class_index = lamina_class_of(model, outputs + i * width);
    for (j = 0; j < width; ++j) {
      printf("%a ", outputs[i * width + j]);
    }
    printf("%s\n", class_index >= 0 ? lamina_class_name(model, class_index) : "");
  }
}

/* 1 where all of them are numbers. */
static int ReadNumbers(char** cells, int64_t count, double* numbers) {
  int64_t i;
  for (i = 0; i < count; ++i) {
    char* end = NULL;
    numbers[i] = strtod(cells[i], &end);
    if (end == cells[i] || *end != '\0') {
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  lamina_model* model = argc > 1 ? lamina_load(argv[1]) : NULL;
  const int64_t columns = lamina_columns(model);
  const int64_t rows = columns > 0 ? (argc - 2) / columns : 0;
  double* outputs = calloc((size_t)(rows * lamina_outputs(model) + 1), sizeof(double));
  double* numbers = calloc((size_t)argc, sizeof(double));
  int64_t i;
  if (model == NULL || outputs == NULL || numbers == NULL) {
    printf("error: %s\n", lamina_error());
    return 1;
  }
  for (i = 0; argc == 2 && i < columns; ++i) {
    printf("%s\n", lamina_column_name(model, i));
  }
  if (argc == 2) {
    return 0;
  }
  if (lamina_predict_text(model, (const char* const*)(argv + 2), rows, outputs) != 0) {
    printf("error: %s\n", lamina_error());
  } else {
    PrintOutputs(model, rows, outputs);
    printf("%s", lamina_notes());
  }
  if (lamina_inputs(model) == columns && ReadNumbers(argv + 2, rows * columns, numbers)) {
    if (lamina_predict(model, numbers, rows, outputs) != 0) {
      printf("error: %s\n", lamina_error());
    } else {
      PrintOutputs(model, rows, outputs);
    }
  }
  free(numbers);
  free(outputs);
  lamina_free(model);
  return 0;
}
