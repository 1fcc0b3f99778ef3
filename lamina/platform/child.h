// Another program that runs beside this one, and the ends of what connects both.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::platform {

struct ChildPlan {
  std::string output_path;  // a file for its standard output; "": nowhere
  bool converses = false;   // its standard input and output are a conversation instead
  bool keep_errors = false;
  bool own_group = false;  // the processes that it starts end with it
};

struct Child {
  int64_t number = -1;  // -1: not running
  int errors = -1;      // to read its standard error, without waiting
  int speech = -1;      // this end of the conversation
  bool own_group = false;
};

/// The command that installs a program here, by its name in Debian and in winget; "" where programs are not started.
std::string InstallCommand(std::string_view debian, std::string_view winget);

/// Starts it with an empty standard input unless it converses. Returns 0 or the error's number; `no_pipe`: that of what
/// connects both.
int StartChild(const std::vector<std::string>& words, const ChildPlan& plan, Child& child, bool& no_pipe);
/// Its exit code, or 128 + the signal that ended it; nothing where it runs on and `wait` is false.
std::optional<int> EndOf(const Child& child, bool wait) noexcept;
/// Asks it, and its group where it has one, to end.
void AskToEnd(const Child& child) noexcept;
/// Its processor time; nothing where it cannot be told.
std::optional<std::chrono::nanoseconds> ProcessorTime(const Child& child) noexcept;
/// Whether one of its threads computes, also while another program has its processor.
bool Computes(const Child& child);

/// Bytes that went over; -1 where nobody listens any more. No signal comes of it.
ptrdiff_t Send(int speech, const void* data, size_t size_bytes) noexcept;
/// Bytes that came within so long; 0 where none did, -1 where none will.
ptrdiff_t Receive(int speech, void* data, size_t size_bytes, std::chrono::milliseconds most) noexcept;

}  // namespace lamina::platform
