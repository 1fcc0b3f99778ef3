/* Loads the plug-in, asks it one row and unloads it: plugin_host ./plugin.so MODEL CELL... Knows nothing of lamina. */
#include <dlfcn.h>
#include <stdio.h>

typedef int (*open_call)(const char* path);
typedef int (*answer_call)(const char* const* cells, double* outputs);
typedef const char* (*error_call)(void);
typedef void (*close_call)(void);

int main(int argc, char** argv) {
  double outputs[16];
  int times;
  for (times = 0; argc > 2 && times < 2; ++times) { /* what was unloaded can be loaded again */
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "plugin_host: %s\n", dlerror());
      return 1;
    }
    if (((open_call)dlsym(plugin, "plugin_open"))(argv[2]) != 0 ||
        ((answer_call)dlsym(plugin, "plugin_answer"))((const char* const*)(argv + 3), outputs) != 0) {
      fprintf(stderr, "plugin_host: %s\n", ((error_call)dlsym(plugin, "plugin_error"))());
      return 1;
    }
    ((close_call)dlsym(plugin, "plugin_close"))();
    dlclose(plugin);
  }
  printf("%.9g\n", outputs[0]);
  return argc > 2 ? 0 : 2;
}
