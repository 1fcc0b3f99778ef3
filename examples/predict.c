/* Answers rows of numbers with a trained model.
 *
 *     lamina train --data iris.csv --model iris.model
 *     predict iris.model 5.1 3.5 1.4 0.2
 *
 * A row is as many numbers as the model has input columns; several rows may follow each other. Prints a line a row. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <lamina/lamina.h>

static int Fail(const char* message, const char* about) {
  fprintf(stderr, "predict: %s%s\n", message, about);
  return 1;
}

static void PrintAnswer(const lamina_model* model, const double* outputs) {
  const int64_t class_index = lamina_class_of(model, outputs);
  int64_t j;
  if (class_index >= 0) {
    printf("%s", lamina_class_name(model, class_index));
  }
  for (j = 0; j < lamina_outputs(model); ++j) {
    printf("%s%.9g", class_index >= 0 || j > 0 ? "," : "", outputs[j]);
  }
  printf("\n");
}

/* Numbers from the command line; 0 if one of them is none. */
static int ReadNumbers(char** words, int64_t count, double* numbers) {
  int64_t i;
  for (i = 0; i < count; ++i) {
    char* end = NULL;
    errno = 0;
    numbers[i] = strtod(words[i], &end);
    if (end == words[i] || *end != '\0' || errno == ERANGE) {
      Fail("not a number: ", words[i]);
      return 0;
    }
  }
  return 1;
}

int main(int argc, char** argv) {
  lamina_model* model;
  double* numbers;
  double* outputs;
  int64_t count = argc - 2;
  int64_t rows, i;
  int status = 1;
  if (argc < 2) {
    return Fail("usage: predict MODEL NUMBER...", "");
  }
  model = lamina_load(argv[1]);
  if (model == NULL) {
    return Fail("", lamina_error());
  }
  rows = count / lamina_inputs(model);
  numbers = malloc((size_t)(count + 1) * sizeof(double));
  outputs = malloc((size_t)(rows * lamina_outputs(model) + 1) * sizeof(double));
  if (numbers == NULL || outputs == NULL) {
    Fail("no memory", "");
  } else if (count == 0 || rows * lamina_inputs(model) != count) {
    fprintf(stderr, "predict: a row of this model has %ld numbers, %ld were given\n", (long)lamina_inputs(model),
            (long)count);
  } else if (ReadNumbers(argv + 2, count, numbers)) {
    if (lamina_predict(model, numbers, rows, outputs) != 0) {
      Fail("", lamina_error());
    } else {
      for (i = 0; i < rows; ++i) {
        PrintAnswer(model, outputs + i * lamina_outputs(model));
      }
      status = 0;
    }
  }
  free(numbers);
  free(outputs);
  lamina_free(model);
  return status;
}
