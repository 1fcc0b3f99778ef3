// Communicator: what the ranks of a job say to each other. Ranks are processes of an MPI job or threads of a process.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/exchanged_parts.h"

namespace lamina {

/// One rank of a job. All ranks make collective calls in the same order. These
/// throw Error(kIo), naming a rank and its host, where one does not answer within
/// patience_seconds(); the job can then only be aborted. One caller at a time.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  bool is_first() const { return rank_ == 0; }
  const std::string& host(int rank) const { return hosts_[static_cast<size_t>(rank)]; }
  /// "rank 1 of 4 on host b".
  std::string NameOf(int rank) const;
  /// What the ranks talk through: "Open MPI v4.1.4", "threads".
  virtual std::string Describe() const = 0;

  /// Collective: to[r] goes to rank r, from[r] comes from it; both sides give the same sizes, 0 for nothing. What goes
  /// to this rank itself is copied. No part overlaps another one that is received.
  void AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from);
  /// Collective: returns when all ranks have come here.
  void Barrier();
  /// Collective: `data` of rank `root` for all.
  void Broadcast(void* data, int64_t size_bytes, int root);
  /// Collective: everybody's text, by rank.
  std::vector<std::string> AllGather(const std::string& mine);
  /// Collective: every rank's `size_bytes` at `mine`, by rank one after the other into `all`.
  void AllGather(const void* mine, int64_t size_bytes, void* all);
  /// Collective: whether it is true on any rank.
  bool Any(bool mine);

  /// For a rank that failed: true where all ranks come here within `seconds`, so that none is left waiting.
  virtual bool AllFailed(double seconds) noexcept = 0;
  /// Ends the other ranks, which may be waiting; a process of an MPI job ends with them, with this exit code.
  virtual void Abort(int exit_code) noexcept = 0;

  /// How long a collective call waits for other ranks.
  double patience_seconds() const { return patience_seconds_; }
  void set_patience_seconds(double seconds) { patience_seconds_ = seconds; }
  /// Where this rank is, for errors; 0: not training.
  void SetPlace(int64_t epoch, int64_t step) { epoch_ = epoch, step_ = step; }
  /// "in epoch 2, step 17", or "".
  std::string Place() const;
  /// Spent in collective calls so far: communication, and waiting for slower ranks.
  double exchange_seconds() const { return exchange_seconds_; }
  /// The part of these seconds that computing did not hide.
  double waited_seconds() const { return exchange_seconds_ - hidden_seconds_; }
  void AddHidden(double seconds) { hidden_seconds_ += seconds; }

  /// Whether collective calls may come from another thread than the one that joined, one at a time.
  virtual bool AnyThread() const { return false; }
  /// Whether all ranks are processes of one host, which exchange through its memory: so fast that hiding it gains
  /// little.
  virtual bool OnOneHost() const { return false; }
  /// From now on the thread in a collective call leaves the processor to others between looks: nobody waits for it.
  /// From any thread.
  void SetAside(bool aside) { aside_ = aside; }
  /// Ends the collective call that is under way in another thread, and all later ones, with an Error: the job can only
  /// be aborted.
  void Cancel() { cancelled_ = true; }

 protected:
  /// Called once all ranks can exchange: tells everybody's host.
  void Introduce(int rank, int size, const std::string& host);
  virtual void Exchange(std::span<const SentPart> to, std::span<const ReceivedPart> from) = 0;
  [[noreturn]] void ThrowSilent(int rank) const;
  bool is_aside() const { return aside_; }
  void ThrowIfCancelled() const;

 private:
  int rank_ = 0;
  std::vector<std::string> hosts_;
  double patience_seconds_ = 600;
  double exchange_seconds_ = 0;
  double hidden_seconds_ = 0;
  std::atomic<bool> aside_{false};
  std::atomic<bool> cancelled_{false};
  int64_t epoch_ = 0;
  int64_t step_ = 0;
};

/// Throws Error(kInvalidArgument), on all ranks, where `value` is not the same everywhere: "WHAT must be the same on
/// all ranks", with the first rank whose value is not that of rank 0. Collective.
void RequireSame(Communicator& ranks, const std::string& what, const std::string& value, const std::string& remedy);

/// How many ranks before this one are on its host: which of the host's devices is its own.
int NumberOnHost(const Communicator& ranks);

/// Cores for every rank of this host, by the affinity masks of all of its ranks; at least 1. Collective.
int CoresOfRank(Communicator& ranks);

/// The name of this host.
std::string HostName();

}  // namespace lamina
