/* Answers in a thread that may not wait: realtime MODEL NUMBER... asks one row 10,000 times, without asking the system
 * for memory. This program counts every call of malloc and its like; a real one would not. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <lamina/lamina.h>

enum { TIMES = 10000, MOST = 4096 };

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void __libc_free(void* memory);
static volatile int counting;
static volatile long calls;

void* malloc(size_t size) {
  calls += counting;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  calls += counting;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  calls += counting;
  return __libc_realloc(memory, size);
}
void free(void* memory) {
  calls += counting;
  __libc_free(memory);
}

struct job {
  const lamina_model* model;
  const double* row;
  double* outputs;
  int failed;
};

static void* Answer(void* argument) {
  struct job* job = argument;
  int i;
  counting = 1;
  for (i = 0; i < TIMES; ++i) {
    job->failed |= lamina_predict(job->model, job->row, 1, job->outputs);
  }
  counting = 0;
  return NULL;
}

int main(int argc, char** argv) {
  static double row[MOST], outputs[MOST];
  const struct sched_param priority = {.sched_priority = 10};
  lamina_model* model = argc > 1 ? lamina_load(argv[1]) : NULL;
  struct job job = {model, row, outputs, 0};
  pthread_attr_t attributes;
  pthread_t thread;
  int i;
  if (model == NULL || argc - 2 != lamina_inputs(model) || argc - 2 > MOST || lamina_outputs(model) > MOST) {
    fprintf(stderr, "realtime: %s\n", model == NULL ? lamina_error() : "not so many numbers");
    return 1;
  }
  for (i = 0; i < argc - 2; ++i) {
    row[i] = strtod(argv[i + 2], NULL);
  }
  (void)mlockall(MCL_CURRENT | MCL_FUTURE); /* no page is fetched late, where the system allows it */
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &priority);
  if (pthread_create(&thread, &attributes, &Answer, &job) != 0 && /* not allowed here: an ordinary thread */
      pthread_create(&thread, NULL, &Answer, &job) != 0) {
    return 1;
  }
  pthread_join(thread, NULL);
  if (job.failed || calls != 0) {
    fprintf(stderr, "realtime: %s, %ld calls for memory\n", lamina_error(), calls);
    return 1;
  }
  printf("%.9g\n", outputs[0]);
  lamina_free(model);
  return 0;
}
