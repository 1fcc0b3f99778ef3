/* A program with its model inside: no file is read.
 *
 *     ld -r -b binary -z noexecstack -o model.o flats.safetensors
 *     cc embedded.c model.o -llamina_predict ...
 *     embedded 81.5 3 quiet
 *
 * The linker names the bytes after the file. Prints what the model says to one row of cells. */
#include <stdio.h>

#include <lamina/lamina.h>

extern const char _binary_flats_safetensors_start[];
extern const char _binary_flats_safetensors_end[];

enum { MOST_OUTPUTS = 16 };

int main(int argc, char** argv) {
  double outputs[MOST_OUTPUTS];
  lamina_model* model = lamina_load_memory(_binary_flats_safetensors_start,
                                           _binary_flats_safetensors_end - _binary_flats_safetensors_start);
  if (model == NULL) {
    fprintf(stderr, "embedded: %s\n", lamina_error());
    return 1;
  }
  if (lamina_outputs(model) > MOST_OUTPUTS || argc - 1 != lamina_columns(model)) {
    fprintf(stderr, "embedded: a row of this model has %ld columns\n", (long)lamina_columns(model));
    return 2;
  }
  if (lamina_predict_text(model, (const char* const*)(argv + 1), 1, outputs) != 0) {
    fprintf(stderr, "embedded: %s\n", lamina_error());
    return 1;
  }
  printf("%.9g\n", outputs[0]);
  lamina_free(model);
  return 0;
}
