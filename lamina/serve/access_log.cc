// Lines of JSON, appended.
#include "lamina/serve/access_log.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "lamina/base/error.h"
#include "lamina/platform/daemon.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"
#include "lamina/platform/socket.h"
#include "lamina/serve/json_cursor.h"

namespace lamina::serve {
namespace {

constexpr size_t kMostWaiting = 100000;
constexpr auto kPause = std::chrono::milliseconds(100);

int OpenLog(const std::string& path) {
  return path == "-" ? platform::Duplicate(platform::kStandardOutput) : platform::OpenLog(path.c_str());
}

// All of it, or false.
bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ptrdiff_t count = platform::Write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

void AppendField(std::string& to, std::string_view name, std::string_view text) {
  to += ',';
  AppendJsonString(to, name);
  to += ':';
  AppendJsonString(to, text);
}

}  // namespace

AccessLog::AccessLog(std::string path) : path_(std::move(path)), descriptor_(OpenLog(path_)) {
  if (descriptor_ < 0) {
    throw Error(ErrorCode::kIo, fmt::format("cannot be opened for the access log: {}", platform::ReasonOf(errno)),
                {.file = path_});
  }
  thread_ = std::thread([this] { Run(); });
}

AccessLog::~AccessLog() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  thread_.join();
  platform::Close(descriptor_);
}

void AccessLog::Add(LogEntry entry) { Push({std::chrono::system_clock::now(), std::move(entry), "", {}}); }

void AccessLog::AddEvent(std::string_view what, std::vector<std::pair<std::string, std::string>> fields) {
  Push({std::chrono::system_clock::now(), {}, std::string(what), std::move(fields)});
}

void AccessLog::Push(Line line) {
  const std::scoped_lock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  waiting_.push_back(std::move(line));
}

void AccessLog::Run() {
  bool ends = false;
  while (!ends) {
    std::vector<Line> lines;
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kPause, [this] { return ends_; });
      lines = std::exchange(waiting_, {});
      ends = ends_;
    }
    if (reopen_.exchange(false)) {
      if (const int fresh = OpenLog(path_); fresh >= 0) {
        platform::Close(std::exchange(descriptor_, fresh));
      }
    }
    Write(lines);
  }
}

void AccessLog::Write(const std::vector<Line>& lines) {
  constexpr size_t kAtOnce = 1000;
  std::string text;
  size_t count = 0;
  const auto flush = [&] {
    if (!text.empty() && !WriteAll(descriptor_, text)) {
      lost_.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
    }
    text.clear();
    count = 0;
  };
  for (const Line& line : lines) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(line.time.time_since_epoch()).count();
    fmt::format_to(std::back_inserter(text), "{{\"time\":\"{:%FT%T}.{:03}Z\"",
                   fmt::gmtime(std::chrono::system_clock::to_time_t(line.time)), ms % 1000);
    if (!line.event.empty()) {
      AppendField(text, "event", line.event);
      for (const auto& [name, value] : line.fields) {
        AppendField(text, name, value);
      }
    } else {
      const LogEntry& entry = line.entry;
      AppendField(text, "peer", entry.peer);
      AppendField(text, "method", entry.method);
      AppendField(text, "target", entry.target);
      fmt::format_to(std::back_inserter(text),
                     ",\"status\":{},\"bytes_in\":{},\"bytes_out\":{},\"rows\":{},\"seconds\":{:.6f}", entry.status,
                     entry.bytes_in, entry.bytes_out, entry.rows, entry.seconds);
    }
    text += "}\n";
    if (++count == kAtOnce) {
      flush();
    }
  }
  flush();
}

void NotifyManager(std::string_view state) {
  if (const char* path = std::getenv("NOTIFY_SOCKET"); path != nullptr) {
    platform::SendDatagram(path, state);
  }
}

}  // namespace lamina::serve
