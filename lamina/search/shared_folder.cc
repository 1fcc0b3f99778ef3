// Claims, heartbeats and files that are written once. A claim is PART.claim-1; whoever holds the lock of its file may
// replace or remove it. Where files have no locks the next one is PART.claim-2: a takeover, too, creates a file that
// only one can create.
#include "lamina/search/shared_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/part_file.h"
#include "lamina/base/text.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

constexpr double kLongestBeat_seconds = 2;
constexpr double kBeatsInLease = 5;
constexpr std::string_view kWorker = "worker-";
constexpr std::string_view kHeartbeat = ".heartbeat";

std::string ThisMachine() {
  try {
    return std::string(Trim(ReadFile("/proc/sys/kernel/random/boot_id")));
  } catch (const Error&) {
    return platform::HostName();
  }
}

std::string RandomName() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

void WriteAll(int descriptor, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ptrdiff_t written = platform::Write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      ThrowFileError(path, "write", errno);
    }
    text.remove_prefix(static_cast<size_t>(std::max<ptrdiff_t>(written, 0)));
  }
}

struct ClosedAtEnd {
  int descriptor;
  ~ClosedAtEnd() {
    if (descriptor >= 0) {
      platform::Close(descriptor);
    }
  }
};

// A complete part, locked until it is gone or has another name.
class WrittenPart {
 public:
  WrittenPart(const std::string& target, const std::string& content) : part_(CreatePart(target)) {
    try {
      WriteAll(part_.descriptor, part_.path, content);
      if (!platform::Flush(part_.descriptor)) {
        ThrowFileError(part_.path, "write", errno);
      }
    } catch (const Error&) {
      End();
      throw;
    }
  }
  ~WrittenPart() { End(); }
  WrittenPart(const WrittenPart&) = delete;
  WrittenPart& operator=(const WrittenPart&) = delete;

  const std::string& path() const { return part_.path; }
  bool Rename(const std::string& target) {
    renamed_ = platform::Rename(part_.path.c_str(), target.c_str());
    return renamed_;
  }

 private:
  void End() {
    if (!renamed_) {
      platform::Remove(part_.path.c_str());
    }
    platform::Close(part_.descriptor);
  }

  CreatedPart part_;
  bool renamed_ = false;
};

// All of a short file; where there is more, of no use.
std::string ShortText(int descriptor) {
  std::array<char, 512> text{};
  const ptrdiff_t size = platform::ReadAt(descriptor, text.data(), text.size(), 0);
  return {text.data(), static_cast<size_t>(std::max<ptrdiff_t>(size, 0))};
}

constexpr std::string_view kClaim = ".claim-";

std::string ClaimName(std::string_view part, int64_t number) { return fmt::format("{}{}{}", part, kClaim, number); }

// The part and the number of a name that ClaimName() could have made.
std::optional<std::pair<std::string, int64_t>> PartOfClaim(std::string_view name) {
  const size_t at = name.rfind(kClaim);
  const auto number = at == std::string_view::npos ? std::nullopt : ParseInteger(name.substr(at + kClaim.size()));
  if (!number || *number < 1) {
    return std::nullopt;
  }
  return std::pair(std::string(name.substr(0, at)), *number);
}

bool Exists(const std::string& path) { return platform::Exists(path.c_str()); }

}  // namespace

bool SharedFolder::IsHeartbeat(std::string_view name) {
  return name.size() == kWorker.size() + 16 + kHeartbeat.size() && name.starts_with(kWorker) &&
         name.ends_with(kHeartbeat) &&
         name.find_first_not_of("0123456789abcdef", kWorker.size()) == name.size() - kHeartbeat.size();
}

SharedFolder::SharedFolder(std::string folder, Options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  if (options_.machine.empty()) {
    options_.machine = ThisMachine();
  }
}

SharedFolder::~SharedFolder() {
  StopBeating();
  if (!worker_.empty()) {
    worker_.clear();  // its own claims are those of an ended worker from now on
    ForgetClaims();
  }
}

std::string SharedFolder::PathOf(const std::string& name) const {
  return (std::filesystem::path(folder_) / name).string();
}

std::optional<std::string> SharedFolder::Read(const std::string& name) const {
  try {
    return ReadFile(PathOf(name));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) {
      throw;
    }
    return std::nullopt;
  }
}

// The name comes after the lock and the text. A worker that is killed before leaves a part, not a heartbeat without
// words that others would have to wait a lease for.
void SharedFolder::BeginBeating() {
  if (heartbeat_ >= 0 && Exists(PathOf(worker_))) {
    return;
  }
  StopBeating();  // somebody took this worker for dead
  worker_ = fmt::format("{}{}{}", kWorker, RandomName(), kHeartbeat);
  const CreatedPart part = CreatePart(PathOf(worker_));  // a file system without locks: the lease alone counts
  heartbeat_ = part.descriptor;
  Beat();
  if (!platform::Rename(part.path.c_str(), PathOf(worker_).c_str())) {
    const int error = errno;
    platform::Remove(part.path.c_str());
    platform::Close(std::exchange(heartbeat_, -1));
    ThrowFileError(folder_, "write into the folder", error);
  }
  stopping_ = false;
  beating_ = std::thread([this] {
    const std::chrono::duration<double> beat(std::min(kLongestBeat_seconds, options_.lease_seconds / kBeatsInLease));
    std::unique_lock lock(beat_mutex_);
    while (!stop_.wait_for(lock, beat, [this] { return stopping_; })) {
      Beat();
    }
  });
}

// What cannot be written, on a full disk, makes others take this worker for dead and do its part again.
void SharedFolder::Beat() {
  const std::string text = fmt::format("{} {:020}\n", options_.machine, ++beats_);
  if (platform::WriteAt(heartbeat_, text.data(), text.size(), 0) < 0 || !platform::Flush(heartbeat_)) {
    return;
  }
}

void SharedFolder::StopBeating() {
  if (beating_.joinable()) {
    {
      const std::lock_guard lock(beat_mutex_);
      stopping_ = true;
    }
    stop_.notify_all();
    beating_.join();
  }
  if (heartbeat_ >= 0) {
    platform::Remove(PathOf(worker_).c_str());
    platform::Close(std::exchange(heartbeat_, -1));
  }
}

bool SharedFolder::IsLate(const std::string& key, const std::string& beat) {
  const auto now = options_.now();
  const auto [sighting, is_new] = seen_.try_emplace(key, Sighting{beat, now});
  if (!is_new && sighting->second.beat != beat) {
    sighting->second = {beat, now};
  }
  return std::chrono::duration<double>(now - sighting->second.since).count() > options_.lease_seconds;
}

bool SharedFolder::HasEnded(const std::string& worker) {
  if (worker == worker_) {
    return false;
  }
  const std::string path = PathOf(worker);
  const ClosedAtEnd file{platform::Open(path.c_str(), platform::OpenFor::kReadingOwn)};
  if (file.descriptor < 0) {
    return platform::IsMissing(errno);
  }
  if (const auto facts = platform::FactsOf(file.descriptor); !facts || !facts->is_file()) {  // none of lamina's
    return true;
  }
  const std::string beat = ShortText(file.descriptor);
  const bool is_here = beat.starts_with(options_.machine + " ");
  const bool nobody_holds_it = is_here && platform::TryLock(file.descriptor) == platform::Lock::kTaken;
  if (nobody_holds_it || IsLate(worker, beat)) {
    platform::Remove(path.c_str());
    return true;
  }
  return false;
}

// Anybody may have written a claim: no path is made of what it says.
bool SharedFolder::OwnerHasEnded(const std::string& claim, int descriptor) {
  const std::string owner = ShortText(descriptor);
  return IsHeartbeat(owner) ? HasEnded(owner) : IsLate(PathOf(claim), owner);
}

// Whether the claim of a worker that ended is this one's now; none where that needs a file of another name.
std::optional<bool> SharedFolder::TakeOver(const std::string& claim) {
  const std::string path = PathOf(claim);
  const ClosedAtEnd file{platform::Open(path.c_str(), platform::OpenFor::kReadingOwn)};
  if (file.descriptor < 0 && !platform::IsMissing(errno)) {
    ThrowFileError(path, "open", errno);
  }
  if (file.descriptor < 0 || !OwnerHasEnded(claim, file.descriptor)) {
    return false;
  }
  if (const platform::Lock lock = platform::TryLock(file.descriptor); lock != platform::Lock::kTaken) {
    return lock == platform::Lock::kHeld ? std::optional(false) : std::nullopt;
  }
  if (!IsNameOf(path, file.descriptor)) {  // another one was quicker
    return false;
  }
  Replace(claim, worker_);
  return true;
}

bool SharedFolder::Claim(const std::string& part) {
  const std::lock_guard lock(mutex_);
  BeginBeating();
  int64_t number = 1;
  while (Exists(PathOf(ClaimName(part, number + 1)))) {
    ++number;
  }
  for (;; ++number) {
    const std::string claim = ClaimName(part, number);
    if (WriteOnce(claim, worker_)) {  // as a whole: others would wait a lease for half a name
      return true;
    }
    if (const std::optional<bool> taken = TakeOver(claim)) {
      return *taken;
    }
  }
}

// The last claim of a part goes first: a part of which claim 2 is there has none that another worker may take for free.
void SharedFolder::ForgetClaims() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, int64_t>> claims;
  for (const std::string& name : NamesWhere([](std::string_view name) { return PartOfClaim(name).has_value(); })) {
    claims.push_back(*PartOfClaim(name));
  }
  std::sort(claims.begin(), claims.end(), std::greater<>());
  for (const auto& [part, number] : claims) {
    const std::string path = PathOf(ClaimName(part, number));
    const ClosedAtEnd file{platform::Open(path.c_str(), platform::OpenFor::kReadingOwn)};
    const auto facts = platform::FactsOf(file.descriptor);
    if (!facts || !facts->is_file()) {
      continue;
    }
    const std::string owner = ShortText(file.descriptor);
    if (IsHeartbeat(owner) && HasEnded(owner) && platform::TryLock(file.descriptor) == platform::Lock::kTaken &&
        IsNameOf(path, file.descriptor) && !Exists(PathOf(ClaimName(part, number + 1)))) {
      platform::Remove(path.c_str());
    }
  }
}

std::vector<std::string> SharedFolder::NamesWhere(const std::function<bool(std::string_view)>& which) const {
  std::vector<std::string> names;
  platform::EachName(folder_, [&](std::string_view name) {
    if (which(name)) {
      names.emplace_back(name);
    }
  });
  return names;
}

bool SharedFolder::WriteOnce(const std::string& name, const std::string& content) {
  const std::string path = PathOf(name);
  if (Exists(path)) {
    return false;
  }
  WrittenPart part(path, content);
  if (platform::Link(part.path().c_str(), path.c_str())) {
    return true;
  }
  const int error = errno;
  if (const auto facts = platform::FactsOfTarget(part.path().c_str());
      facts && facts->links == 2) {  // the answer was lost (NFS)
    return true;
  }
  if (error == EEXIST || Exists(path)) {  // it may be gone again: another worker gave its claim back
    return false;
  }
  if (error == ENOENT || !part.Rename(path)) {  // else there are no links here
    ThrowFileError(path, "create", error);
  }
  return true;
}

void SharedFolder::Replace(const std::string& name, const std::string& content) {
  const std::string path = PathOf(name);
  if (WrittenPart part(path, content); !part.Rename(path)) {
    ThrowFileError(path, "replace", errno);
  }
}

int SharedFolder::Others() {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string> workers =
      NamesWhere([&](std::string_view name) { return IsHeartbeat(name) && name != worker_; });
  return static_cast<int>(
      std::count_if(workers.begin(), workers.end(), [&](const std::string& name) { return !HasEnded(name); }));
}

}  // namespace lamina
