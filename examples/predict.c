/* Answers rows with a trained model.
 *
 *     lamina train --data iris.csv --model iris.model
 *     predict iris.model 5.1 3.5 1.4 0.2
 *     predict --text houses.model quiet 81.5 2024-03-01
 *
 * A row is as many numbers as the model has input columns. With --text it is as many texts as the model has columns:
 * words, dates and amounts as in a CSV file, "" for what is missing. Several rows may follow each other. Prints a line
 * a row, and what is to be known of the answers on standard error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (end == words[i] || *end != '\0' || (errno == ERANGE && (numbers[i] > 1 || numbers[i] < -1))) {
      Fail("not a number: ", words[i]);
      return 0;
    }
  }
  return 1;
}

/* The columns of a model, as a person has to give them. */
static void PrintColumns(const lamina_model* model) {
  int64_t i;
  for (i = 0; i < lamina_columns(model); ++i) {
    fprintf(stderr, "  %s (%s)\n", lamina_column_name(model, i), lamina_column_kind(model, i));
  }
}

/* `words`: the rows. Returns the exit status. */
static int Answer(const lamina_model* model, int text, char** words, int64_t count) {
  const int64_t width = text ? lamina_columns(model) : lamina_inputs(model);
  const int64_t rows = width > 0 ? count / width : 0;
  double* numbers = malloc((size_t)(count + 1) * sizeof(double));
  double* outputs = malloc((size_t)(rows * lamina_outputs(model) + 1) * sizeof(double));
  int status = 1;
  int64_t i;
  if (numbers == NULL || outputs == NULL) {
    Fail("no memory", "");
  } else if (rows == 0 || rows * width != count) {
    fprintf(stderr, "predict: a row of this model has %ld %s, %ld were given\n", (long)width,
            text ? "columns" : "numbers", (long)count);
    PrintColumns(model);
  } else if (text || ReadNumbers(words, count, numbers)) {
    const int failed = text ? lamina_predict_text(model, (const char* const*)words, rows, outputs)
                            : lamina_predict(model, numbers, rows, outputs);
    if (failed != 0) {
      Fail("", lamina_error());
    } else {
      for (i = 0; i < rows; ++i) {
        PrintAnswer(model, outputs + i * lamina_outputs(model));
      }
      fputs(lamina_notes(), stderr);
      status = 0;
    }
  }
  free(numbers);
  free(outputs);
  return status;
}

int main(int argc, char** argv) {
  const int text = argc > 1 && strcmp(argv[1], "--text") == 0;
  lamina_model* model;
  int status;
  if (argc < 2 + text) {
    return Fail("usage: predict MODEL NUMBER... or predict --text MODEL CELL...", "");
  }
  model = lamina_load(argv[1 + text]);
  if (model == NULL) {
    return Fail("", lamina_error());
  }
  status = Answer(model, text, argv + 2 + text, argc - 2 - text);
  lamina_free(model);
  return status;
}
