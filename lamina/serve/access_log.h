// A line of JSON for every request, written by a thread of its own: a slow or full disk keeps no request waiting.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "lamina/serve/server_options.h"

namespace lamina::serve {

class AccessLog {
 public:
  /// Lines are appended to the file `path`; "-": to standard output. Throws Error(kIo).
  explicit AccessLog(std::string path);
  ~AccessLog();

  /// Any thread. Where too many wait, or the file takes none, a line is lost and counted.
  void Add(LogEntry entry);
  /// What happened to the service: "reload", "stop".
  void AddEvent(std::string_view what, std::vector<std::pair<std::string, std::string>> fields);
  /// Opens the file anew, once it was renamed (logrotate). Without success lines go where they went.
  void Reopen() { reopen_.store(true); }

  const std::atomic<int64_t>& lost() const { return lost_; }

 private:
  struct Line {
    std::chrono::system_clock::time_point time;
    LogEntry entry;
    std::string event;
    std::vector<std::pair<std::string, std::string>> fields;
  };
  void Push(Line line);
  void Run();
  void Write(const std::vector<Line>& lines);

  std::string path_;
  int descriptor_ = -1;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Line> waiting_;
  bool ends_ = false;
  std::atomic<bool> reopen_{false};
  std::atomic<int64_t> lost_{0};
  std::thread thread_;
};

/// Tells the service manager that started this process (systemd, Type=notify) "READY=1" or "STOPPING=1"; nothing where
/// there is none.
void NotifyManager(std::string_view state);

}  // namespace lamina::serve
