// A folder in which several processes, on any hosts that see it, divide work among themselves.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace lamina {

/// Each worker has a file that it changes every few seconds, its heartbeat. A part of the work is claimed by creating,
/// as a whole, a file that names the worker. Whoever wants a claimed part watches the owner's heartbeat. An owner whose
/// heartbeat did not change for the lease, on the watcher's own steady clock, has died. Whoever holds the lock of its
/// claim's file then replaces the claim. Claims of those that ended are forgotten when a worker comes or goes.
/// Clocks of hosts are never compared. On the owner's machine a death shows at once (the heartbeat is locked), and a
/// worker that ends removes its heartbeat. A claim saves work and is no lock: an owner that only slept may finish a
/// part twice. So results are written once (WriteOnce), and the first one counts. Needs exclusive creation of files and
/// hard links, which NFS has; without locks the next claim of a dead worker's part is a further file. With renames
/// alone a part may be claimed, and done, twice. Thread-safe.
class SharedFolder {
 public:
  struct Options {
    double lease_seconds = 60;
    std::string machine;  // what tells machines apart; empty: this one's
    std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;  // a test's own
  };

  /// The folder exists.
  SharedFolder(std::string folder, Options options);
  /// Gives all claims back.
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  /// True where `part` (a file name) is now this worker's to do. Throws Error(kIo).
  bool Claim(const std::string& part);
  /// Creates the file `name` as a whole; false where it is there already. Throws Error(kIo).
  bool WriteOnce(const std::string& name, const std::string& content);
  /// Replaces the file `name` as a whole. Throws Error(kIo).
  void Replace(const std::string& name, const std::string& content);
  /// The file `name`; none where there is no such file. Throws Error(kIo).
  std::optional<std::string> Read(const std::string& name) const;
  /// How many other workers are there; the heartbeats of those that died on this machine are removed.
  int Others();
  /// Removes the claims of workers that ended. Done by the destructor, too.
  void ForgetClaims();
  std::string PathOf(const std::string& name) const;
  /// Whether the file that shows a worker alive could be named so.
  static bool IsHeartbeat(std::string_view name);

 private:
  using Clock = std::chrono::steady_clock;
  struct Sighting {
    std::string beat;
    Clock::time_point since;
  };

  void BeginBeating();
  void StopBeating();
  void Beat();
  bool HasEnded(const std::string& worker);
  bool OwnerHasEnded(const std::string& claim, int descriptor);
  std::optional<bool> TakeOver(const std::string& claim);
  std::vector<std::string> NamesWhere(const std::function<bool(std::string_view)>& which) const;
  bool IsLate(const std::string& key, const std::string& beat);

  std::string folder_;
  Options options_;
  std::mutex mutex_;
  std::map<std::string, Sighting> seen_;
  std::string worker_;  // the name of the heartbeat's file; empty before the first claim
  int heartbeat_ = -1;  // its descriptor, locked
  int64_t beats_ = 0;
  std::thread beating_;
  std::mutex beat_mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
};

}  // namespace lamina
