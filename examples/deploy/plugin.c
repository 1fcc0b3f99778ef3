/* A plug-in that answers with a model. Nothing of lamina can be seen from outside: the host may have another copy, or
 * another version. */
#include <stddef.h>

#include <lamina/lamina.h>

#define SEEN __attribute__((visibility("default")))

static lamina_model* model;

/* 0 if it could be read. */
SEEN int plugin_open(const char* path) { return (model = lamina_load(path)) == NULL; }

SEEN int plugin_answer(const char* const* cells, double* outputs) {
  return lamina_predict_text(model, cells, 1, outputs);
}

SEEN const char* plugin_error(void) { return lamina_error(); }

SEEN void plugin_close(void) {
  lamina_free(model);
  model = NULL;
}
