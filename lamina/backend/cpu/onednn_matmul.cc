#include "lamina/backend/cpu/cpu_backend.h"
namespace lamina {
std::string OnednnDescription() { return ""; }
}  // namespace lamina
