// Backend cuda, linked or opened.
#include "lamina/backend/cuda_functions.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "lamina/backend/training_steps.h"
#include "lamina/base/opened_library.h"
#include "lamina/base/version.h"
#include "lamina/platform/shared_library.h"

// Defined where lamina::cuda is linked.
extern "C" __attribute__((weak)) const lamina::CudaFunctions* LaminaCudaFunctions();

namespace lamina {
namespace {

constexpr const char* kRemedy =
    "Install it: pip install 'lamina[cuda]', the package lamina-cuda, or scripts/build cuda (docs/install.md)";

FoundCuda Open(const std::string& path) {
  OpenedLibrary library(path);
  decltype(&LaminaCudaFunctions) functions = nullptr;
  library.Find(functions, "LaminaCudaFunctions");
  if (functions == nullptr) {
    return {nullptr, library.reason()};
  }
  const CudaFunctions* found = functions();
  if (found->interface != CudaInterface()) {
    return {nullptr, fmt::format("{} is of another lamina (it has {}, this one {}). {}", path, found->interface,
                                 CudaInterface(), kRemedy)};
  }
  return {found, ""};
}

FoundCuda Search() {
  if (const CudaFunctions* linked = &LaminaCudaFunctions == nullptr ? nullptr : LaminaCudaFunctions();
      linked != nullptr) {
    return {linked, ""};
  }
  if (const std::string why = platform::WhyNoLibraries(); !why.empty()) {
    return {nullptr, why};
  }
  const char* const named = std::getenv(kCudaPluginVariable);
  if (named != nullptr && std::string(named) == "off") {
    return {nullptr, fmt::format("{}=off", kCudaPluginVariable)};
  }
  if (named != nullptr && *named != '\0') {
    return Open(named);
  }
  if (!OpenedLibrary("libcuda.so.1").reason().empty()) {  // and nothing of the plug-in is loaded
    return {nullptr, "no NVIDIA driver is installed"};
  }
  for (const std::string& path : PluginPlaces("lamina_cuda")) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      return Open(path);
    }
  }
  return {nullptr, fmt::format("the kernels for GPUs (lamina_cuda.so) are not installed. {}", kRemedy)};
}

}  // namespace

std::string CudaInterface() {
  return fmt::format("{}-{}", Version(),
                     sizeof(Backend) + sizeof(BackendOptions) + sizeof(LayerSpec) + sizeof(LayerPlanRequest) +
                         sizeof(NetworkPlanRequest) + sizeof(ForwardArgs) + sizeof(InputGradientArgs) +
                         sizeof(WeightGradientArgs) + sizeof(LossArgs) + sizeof(CudaFunctions));
}

const FoundCuda& FindCuda() {
  static const FoundCuda found = Search();
  return found;
}

const CudaFunctions& RequireCuda() {
  const FoundCuda& found = FindCuda();
  if (found.functions == nullptr) {
    throw Error(ErrorCode::kUnsupported, "backend cuda is not available: " + found.reason);
  }
  return *found.functions;
}

}  // namespace lamina
