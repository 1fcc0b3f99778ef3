/* What lamina asks of an MPI library, as C functions of a plug-in: lamina itself neither needs nor links one. */
#ifndef LAMINA_CLUSTER_MPI_PLUGIN_H_
#define LAMINA_CLUSTER_MPI_PLUGIN_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kLaminaMpiInterface = 2 };

typedef struct LaminaMpiPart {
  void* data;
  int64_t size_bytes;
} LaminaMpiPart;

/* One call at a time; of one thread where any_thread() says no. */
typedef struct LaminaMpi {
  int interface_version; /* kLaminaMpiInterface */
  /* "Open MPI v4.1.4": of the library that answers. */
  const char* (*library)(void);
  /* Begins; 0, or the process cannot take part and error() says why. */
  int (*join)(int* rank, int* size);
  /* Whether calls may come from another thread than join() did; of the library that joined. */
  int (*any_thread)(void);
  /* Begins to send to[r] to every rank r and to receive from[r]; null: error(). */
  void* (*start)(const LaminaMpiPart* to, const LaminaMpiPart* from);
  /* 1: all done, 0: not yet, -1: error(). Sets missing[r] to whether something to or from rank r is still under way. */
  int (*test)(void* exchange, char* missing);
  void (*release)(void* exchange);
  /* Begins a barrier apart from all exchanges; 1: all ranks came within so many seconds. */
  int (*meet)(double seconds);
  const char* (*error)(void);
  /* Ends for all ranks; every rank calls it. */
  void (*leave)(void);
  /* Ends all ranks now. */
  void (*abort)(int exit_code);
} LaminaMpi;

/* The one function of the plug-in that is looked up. */
const LaminaMpi* LaminaMpiFunctions(void);

#ifdef __cplusplus
}
#endif

#endif
