/* The plug-in: the functions of mpi_plugin.h by an MPI library, whose compiler builds this file alone. It calls nothing
 * newer than MPI 3.0. */
#include "lamina/cluster/mpi_plugin.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { kTag = 7 };

static MPI_Comm ranks = MPI_COMM_NULL;
static MPI_Comm failures = MPI_COMM_NULL; /* for meet(), whatever else is under way */
static int own_rank = 0;
static int rank_count = 0;
static int thread_level = MPI_THREAD_SINGLE;
static char error_text[MPI_MAX_ERROR_STRING + 64];
static char library_text[MPI_MAX_LIBRARY_VERSION_STRING];

typedef struct Exchange {
  int count;
  MPI_Request* requests;
  int* peers; /* of every request */
} Exchange;

static int Failed(int code, const char* doing) {
  if (code == MPI_SUCCESS) {
    return 0;
  }
  int length = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Error_string(code, text, &length);
  strcpy(error_text, doing);
  strcat(error_text, ": ");
  strncat(error_text, text, MPI_MAX_ERROR_STRING);
  return 1;
}

static const char* Library(void) {
  int length = 0;
  MPI_Get_library_version(library_text, &length);
  library_text[strcspn(library_text, ",\n")] = '\0';
  const char* number = strchr(library_text, '\t'); /* "MPICH Version:\t4.0.2" */
  if (number != NULL && strncmp(library_text, "MPICH", 5) == 0) {
    memmove(library_text + 6, number + 1, strlen(number));
    library_text[5] = ' ';
  }
  return library_text;
}

/* Over TCP, UCX (MPICH 4) may write into a peer's memory, and then MPI_Finalize waits for the peer to say that all has
 * come. A peer that is further in MPI_Finalize no longer says it, so both hang: seen once in a hundred runs. */
static void WriteNothingIntoPeers(void) { setenv("UCX_TCP_PUT_ENABLE", "n", /*overwrite=*/0); }

static int Join(int* rank, int* size) {
  WriteNothingIntoPeers();
  if (Failed(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &thread_level), "MPI_Init_thread") ||
      Failed(MPI_Comm_dup(MPI_COMM_WORLD, &ranks), "MPI_Comm_dup") ||
      Failed(MPI_Comm_dup(MPI_COMM_WORLD, &failures), "MPI_Comm_dup")) {
    return 1;
  }
  if (thread_level < MPI_THREAD_FUNNELED) {
    strcpy(error_text, "this MPI library allows no threads beside it");
    return 1;
  }
  MPI_Comm_set_errhandler(ranks, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(failures, MPI_ERRORS_RETURN);
  MPI_Comm_rank(ranks, &own_rank);
  MPI_Comm_size(ranks, &rank_count);
  *rank = own_rank;
  *size = rank_count;
  return 0;
}

static int AnyThread(void) { return thread_level >= MPI_THREAD_SERIALIZED; }

static const int64_t kPiece_bytes = (int64_t)1 << 30; /* counts are of type int */

static int Pieces(int64_t bytes) { return (int)((bytes + kPiece_bytes - 1) / kPiece_bytes); }

static void Release(void* exchange) {
  Exchange* all = exchange;
  if (all != NULL) {
    free(all->requests);
    free(all->peers);
    free(all);
  }
}

/* Posts the pieces of a part; those of one pair of ranks arrive in order. */
static int Post(Exchange* all, const LaminaMpiPart* part, int peer, int sends) {
  for (int64_t done = 0; done < part->size_bytes; done += kPiece_bytes) {
    const int64_t left = part->size_bytes - done;
    const int size = (int)(left < kPiece_bytes ? left : kPiece_bytes);
    char* data = (char*)part->data + done;
    MPI_Request* request = &all->requests[all->count];
    if (Failed(sends ? MPI_Isend(data, size, MPI_BYTE, peer, kTag, ranks, request)
                     : MPI_Irecv(data, size, MPI_BYTE, peer, kTag, ranks, request),
               sends ? "MPI_Isend" : "MPI_Irecv")) {
      return 1;
    }
    all->peers[all->count++] = peer;
  }
  return 0;
}

static void* Start(const LaminaMpiPart* to, const LaminaMpiPart* from) {
  size_t count = 1;
  for (int r = 0; r < rank_count; ++r) {
    count += (size_t)(Pieces(to[r].size_bytes) + Pieces(from[r].size_bytes));
  }
  Exchange* all = calloc(1, sizeof(Exchange));
  if (all != NULL) {
    all->requests = calloc(count, sizeof(MPI_Request));
    all->peers = calloc(count, sizeof(int));
  }
  if (all == NULL || all->requests == NULL || all->peers == NULL) {
    strcpy(error_text, "out of memory");
    Release(all);
    return NULL;
  }
  for (int sends = 0; sends < 2; ++sends) {
    for (int i = 1; i < rank_count; ++i) { /* not all to rank 0 first */
      const int peer = (own_rank + i) % rank_count;
      if (Post(all, sends ? &to[peer] : &from[peer], peer, sends)) {
        Release(all);
        return NULL;
      }
    }
  }
  if (to[own_rank].size_bytes > 0 && to[own_rank].data != from[own_rank].data) {
    memcpy(from[own_rank].data, to[own_rank].data, (size_t)to[own_rank].size_bytes);
  }
  return all;
}

static int Test(void* exchange, char* missing) {
  Exchange* all = exchange;
  int done = 0;
  if (Failed(MPI_Testall(all->count, all->requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall")) {
    return -1;
  }
  if (done || missing == NULL) {
    return done;
  }
  memset(missing, 0, (size_t)rank_count);
  for (int i = 0; i < all->count; ++i) {
    int came = 0;
    if (Failed(MPI_Test(&all->requests[i], &came, MPI_STATUS_IGNORE), "MPI_Test")) {
      return -1;
    }
    missing[all->peers[i]] |= !came;
  }
  return 0;
}

static int Meet(double seconds) {
  MPI_Request request;
  int done = 0;
  if (MPI_Ibarrier(failures, &request) != MPI_SUCCESS) {
    return 0;
  }
  for (const double begin = MPI_Wtime(); !done && MPI_Wtime() - begin < seconds;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      return 0;
    }
  }
  return done;
}

static const char* ErrorText(void) { return error_text; }
static void Leave(void) { MPI_Finalize(); }
static void Abort(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

const LaminaMpi* LaminaMpiFunctions(void) {
  static const LaminaMpi functions = {kLaminaMpiInterface, Library, Join, AnyThread, Start, Test,
                                      Release,             Meet,    ErrorText, Leave, Abort};
  return &functions;
}
