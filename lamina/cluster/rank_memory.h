// The memory of the arrays that ranks sum, what computes in it and what carries it from rank to rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lamina/backend/array_math.h"
#include "lamina/backend/backend.h"
#include "lamina/backend/device_exchange.h"
#include "lamina/base/buffer.h"
#include "lamina/cluster/communicator.h"

namespace lamina {

/// The memory of one rank. One caller at a time.
class RankMemory {
 public:
  /// Host memory, `threads` threads. `ranks` null: this process alone; it outlives this.
  RankMemory(Communicator* ranks, int threads);
  /// That of a backend, which outlives this. Between devices by the library that the backend has for it
  /// (Backend::JoinRanks), else through host memory. Collective.
  RankMemory(Communicator* ranks, const Backend& backend);

  int64_t size() const { return ranks_ == nullptr ? 1 : ranks_->size(); }
  int64_t rank() const { return ranks_ == nullptr ? 0 : ranks_->rank(); }
  ArrayMath& math() const { return *math_; }
  std::unique_ptr<Buffer> Allocate(int64_t size_bytes) const;
  /// Collective: as Communicator::AllToAll(), of parts in this memory.
  void AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from);

  /// Whether nothing of a sum needs the host: yes where an exchange is asked for and not waited for.
  const Verdict& stays_on_device() const { return stays_on_device_; }
  /// What carries arrays between ranks: "NCCL 2.27.3", "host memory", with the reason where it is not the device's own.
  std::string Describe() const;

 private:
  void ThroughHost(std::span<const SentPart> to, std::span<const ReceivedPart> from);

  Communicator* ranks_;
  const Backend* backend_;  // of a device; null: host memory
  std::unique_ptr<ArrayMath> math_;
  std::unique_ptr<DeviceExchange> exchange_;
  Verdict stays_on_device_;
  AlignedBuffer sent_;  // on the host, where it goes through there
  AlignedBuffer received_;
};

}  // namespace lamina
