// The files that this process leaves behind where it ends early, as a signal handler can read them.
#pragma once

#include <string>

namespace lamina {

/// `path` is to be removed where the process ends before ForgetUnfinished(): at most 32 at a time, others are left.
void RememberUnfinished(const std::string& path);
void ForgetUnfinished(const std::string& path);
/// Removes them; for signal handlers.
void RemoveUnfinished() noexcept;

}  // namespace lamina
