// macOS has no kernels for GPUs, and its linker wants a weak function to be defined.
#include "lamina/backend/cuda_functions.h"

const lamina::CudaFunctions* LaminaCudaFunctions() { return nullptr; }
