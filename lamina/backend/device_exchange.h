// Exchanges between the memories of several devices, a rank each: by the library that their maker has for it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/exchanged_parts.h"

namespace lamina {

/// How the ranks of a job find one another.
struct RankMeeting {
  int rank = 0;
  int size = 1;
  /// Collective: everybody's text, by rank.
  std::function<std::vector<std::string>(const std::string&)> gather;
  /// How long to wait for other ranks.
  double patience_seconds = 600;
  /// "in epoch 2, step 17", or "": for errors.
  std::function<std::string()> place;
};

/// One rank of them. Collective calls are made by all ranks in the same order.
class DeviceExchange {
 public:
  virtual ~DeviceExchange() = default;
  /// Collective: to[r] goes to rank r, from[r] comes from it, all in the device's memory; sizes as of
  /// Communicator::AllToAll(). After the work asked for so far and before what is asked for then; returns before it is
  /// done. Where a rank does not answer, what waits for the device (Backend::Synchronize(), Download()) throws
  /// Error(kIo) after the patience, and the job can only be ended.
  virtual void AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from) noexcept = 0;
  /// "NCCL 2.27.3".
  virtual std::string Describe() const = 0;
};

}  // namespace lamina
