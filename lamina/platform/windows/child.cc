// CreateProcess with pipes.
#include "lamina/platform/child.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "lamina/platform/file.h"
#include "lamina/platform/windows/system.h"

namespace lamina::platform {
namespace {

constexpr DWORD kPipe_bytes = 1 << 16;

// One word of a command line, as programs take it apart (CommandLineToArgvW).
std::wstring Quoted(const std::string& text) {
  const std::wstring word = windows::Wide(text);
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring::npos) {
    return word;
  }
  std::wstring quoted = L"\"";
  size_t backslashes = 0;
  for (const wchar_t c : word) {
    if (c == L'\\') {
      ++backslashes;
      continue;
    }
    quoted.append(c == L'"' ? 2 * backslashes + 1 : backslashes, L'\\');
    backslashes = 0;
    quoted += c;
  }
  quoted.append(2 * backslashes, L'\\');
  return quoted + L'"';
}

// Both ends of a pipe, of a descriptor of this process and a handle of the child. `two_way`: the child writes into it
// and reads from it.
struct Pipe {
  HANDLE own = INVALID_HANDLE_VALUE;
  HANDLE theirs = INVALID_HANDLE_VALUE;
};

bool MakePipe(bool two_way, Pipe& pipe) {
  static std::atomic<unsigned> count{0};
  const std::wstring name =
      L"\\\\.\\pipe\\lamina-" + std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(++count);
  const DWORD access = (two_way ? PIPE_ACCESS_DUPLEX : PIPE_ACCESS_INBOUND) | FILE_FLAG_FIRST_PIPE_INSTANCE;
  pipe.own = CreateNamedPipeW(name.c_str(), access, PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS, 1, kPipe_bytes,
                              kPipe_bytes, 0, nullptr);
  if (pipe.own == INVALID_HANDLE_VALUE) {
    return windows::Failed();
  }
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  pipe.theirs = CreateFileW(name.c_str(), GENERIC_WRITE | (two_way ? GENERIC_READ : FILE_READ_ATTRIBUTES), 0,
                            &inherited, OPEN_EXISTING, 0, nullptr);
  if (pipe.theirs == INVALID_HANDLE_VALUE) {
    windows::Failed();
    CloseHandle(pipe.own);
    return false;
  }
  return true;
}

HANDLE OpenForChild(const std::string& path, DWORD access, DWORD creation) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  return CreateFileW(windows::WidePath(path).c_str(), access, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, creation,
                     FILE_ATTRIBUTE_NORMAL, nullptr);
}

void CloseAll(std::initializer_list<HANDLE> handles) {
  for (const HANDLE handle : handles) {
    if (handle != INVALID_HANDLE_VALUE) {
      CloseHandle(handle);
    }
  }
}

HANDLE ProcessOf(const Child& child) { return reinterpret_cast<HANDLE>(static_cast<intptr_t>(child.number)); }

// Starts `words` with these streams; returns the error's number. A child gets these handles and no others.
int Start(const std::vector<std::string>& words, const ChildPlan& plan, std::array<HANDLE, 3> streams, Child& child) {
  std::wstring line;
  for (const std::string& word : words) {
    line += (line.empty() ? L"" : L" ") + Quoted(word);
  }
  std::vector<HANDLE> passed(streams.begin(), streams.end());
  std::sort(passed.begin(), passed.end());
  passed.erase(std::unique(passed.begin(), passed.end()), passed.end());
  SIZE_T size = 0;
  InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
  std::vector<std::byte> list_bytes(size);
  auto* const list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(list_bytes.data());
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = streams[0];
  start.StartupInfo.hStdOutput = streams[1];
  start.StartupInfo.hStdError = streams[2];
  if (InitializeProcThreadAttributeList(list, 1, 0, &size) == 0 ||
      UpdateProcThreadAttribute(list, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, passed.data(),
                                passed.size() * sizeof(HANDLE), nullptr, nullptr) == 0) {
    return windows::ErrnoOf(GetLastError());
  }
  start.lpAttributeList = list;
  const DWORD flags = EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW | (plan.own_group ? CREATE_NEW_PROCESS_GROUP : 0);
  PROCESS_INFORMATION made{};
  const BOOL started =
      CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, flags, nullptr, nullptr, &start.StartupInfo, &made);
  const DWORD error = GetLastError();
  DeleteProcThreadAttributeList(list);
  if (started == 0) {
    return windows::ErrnoOf(error);
  }
  CloseHandle(made.hThread);
  child.number = reinterpret_cast<intptr_t>(made.hProcess);
  return 0;
}

// Bytes that wait in a pipe; -1 where nobody writes into it any more.
int64_t Waiting_bytes(HANDLE pipe) {
  DWORD waiting = 0;
  return PeekNamedPipe(pipe, nullptr, 0, nullptr, &waiting, nullptr) != 0 ? int64_t{waiting} : -1;
}

}  // namespace

std::string InstallCommand(std::string_view, std::string_view winget) {
  return "winget install " + std::string(winget);
}

int StartChild(const std::vector<std::string>& words, const ChildPlan& plan, Child& child, bool& no_pipe) {
  Pipe errors;
  Pipe speech;
  no_pipe = true;
  if (plan.keep_errors && !MakePipe(/*two_way=*/false, errors)) {
    return errno;
  }
  if (plan.converses && !MakePipe(/*two_way=*/true, speech)) {
    const int error = errno;
    CloseAll({errors.own, errors.theirs});
    return error;
  }
  no_pipe = false;
  child = {.own_group = plan.own_group};
  const HANDLE nothing = OpenForChild("NUL", GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING);
  const HANDLE output =
      plan.output_path.empty() ? INVALID_HANDLE_VALUE : OpenForChild(plan.output_path, GENERIC_WRITE, CREATE_ALWAYS);
  const auto or_nothing = [&](HANDLE handle) { return handle == INVALID_HANDLE_VALUE ? nothing : handle; };
  const int error =
      Start(words, plan,
            {or_nothing(speech.theirs), plan.converses ? speech.theirs : or_nothing(output), or_nothing(errors.theirs)},
            child);
  CloseAll({nothing, output, errors.theirs, speech.theirs});
  if (errors.own != INVALID_HANDLE_VALUE) {
    DWORD mode = PIPE_READMODE_BYTE | PIPE_NOWAIT;
    SetNamedPipeHandleState(errors.own, &mode, nullptr, nullptr);
    child.errors = windows::DescriptorOf(errors.own);
  }
  if (speech.own != INVALID_HANDLE_VALUE) {
    child.speech = windows::DescriptorOf(speech.own);
  }
  return error;
}

std::optional<int> EndOf(const Child& child, bool wait) noexcept {
  if (WaitForSingleObject(ProcessOf(child), wait ? INFINITE : 0) == WAIT_TIMEOUT) {
    return std::nullopt;
  }
  DWORD code = 0;
  GetExitCodeProcess(ProcessOf(child), &code);
  CloseHandle(ProcessOf(child));
  return static_cast<int>(code);
}

// Programs without a window cannot be asked: they are ended.
void AskToEnd(const Child& child) noexcept { TerminateProcess(ProcessOf(child), 1); }

std::optional<std::chrono::nanoseconds> ProcessorTime(const Child& child) noexcept {
  FILETIME begun{};
  FILETIME ended{};
  FILETIME kernel{};
  FILETIME user{};
  if (child.number <= 0 || GetProcessTimes(ProcessOf(child), &begun, &ended, &kernel, &user) == 0) {
    return std::nullopt;
  }
  const auto time_ns = [](const FILETIME& time) {
    return static_cast<int64_t>(uint64_t{time.dwHighDateTime} << 32U | time.dwLowDateTime) * 100;
  };
  return std::chrono::nanoseconds(time_ns(kernel) + time_ns(user));
}

bool Computes(const Child&) { return false; }  // its processor time tells

ptrdiff_t Send(int speech, const void* data, size_t size_bytes) noexcept { return Write(speech, data, size_bytes); }

ptrdiff_t Receive(int speech, void* data, size_t size_bytes, std::chrono::milliseconds most) noexcept {
  constexpr auto kLook = std::chrono::milliseconds(1);
  const HANDLE pipe = windows::HandleOf(speech);
  for (auto waited = std::chrono::milliseconds(0);; waited += kLook) {
    const int64_t waiting = Waiting_bytes(pipe);
    if (waiting != 0) {
      const ptrdiff_t n = waiting < 0 ? 0 : Read(speech, data, std::min(size_bytes, static_cast<size_t>(waiting)));
      return n > 0 ? n : -1;
    }
    if (waited >= most) {
      return 0;
    }
    Sleep(static_cast<DWORD>(kLook.count()));
  }
}

}  // namespace lamina::platform
