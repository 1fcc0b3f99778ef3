// A plug-in of backend cuda as another version of lamina would bring it.
#include "lamina/backend/cuda_functions.h"

extern "C" const lamina::CudaFunctions* LaminaCudaFunctions() {
  static const lamina::CudaFunctions kFunctions{.interface = "0.0.9-1"};
  return &kFunctions;
}
