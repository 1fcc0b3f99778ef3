// A page of the browser starts no programs.
#include "lamina/platform/child.h"

#include <cerrno>

namespace lamina::platform {

std::string InstallCommand(std::string_view, std::string_view) { return ""; }

int StartChild(const std::vector<std::string>&, const ChildPlan&, Child&, bool& no_pipe) {
  no_pipe = false;
  return ENOSYS;
}
std::optional<int> EndOf(const Child&, bool) noexcept { return 127; }
void AskToEnd(const Child&) noexcept {}
std::optional<std::chrono::nanoseconds> ProcessorTime(const Child&) noexcept { return std::nullopt; }
bool Computes(const Child&) { return false; }
ptrdiff_t Send(int, const void*, size_t) noexcept { return -1; }
ptrdiff_t Receive(int, void*, size_t, std::chrono::milliseconds) noexcept { return -1; }

}  // namespace lamina::platform
