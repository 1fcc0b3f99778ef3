// Host memory, a device with a library of its own for exchanges, or a device whose parts are copied to the host.
#include "lamina/cluster/rank_memory.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "lamina/backend/host_backend.h"

namespace lamina {
namespace {

std::byte* Room(AlignedBuffer& buffer, int64_t size_bytes) {
  if (buffer.size_bytes() < size_bytes) {
    buffer = AlignedBuffer(size_bytes);
  }
  return static_cast<std::byte*>(buffer.data());
}

}  // namespace

RankMemory::RankMemory(Communicator* ranks, int threads)
    : ranks_(ranks),
      backend_(nullptr),
      math_(std::make_unique<HostArrayMath>(threads)),
      stays_on_device_(Verdict::No("arrays are in host memory")) {}

RankMemory::RankMemory(Communicator* ranks, const Backend& backend) : RankMemory(ranks, backend.threads()) {
  if (backend.space() == Space::kHost) {
    return;
  }
  backend_ = &backend;
  math_ = backend.MakeArrayMath();
  stays_on_device_ = Verdict::Yes();
  if (size() > 1) {
    RankMeeting meeting{ranks->rank(), ranks->size()};
    meeting.gather = [ranks](const std::string& mine) { return ranks->AllGather(mine); };
    meeting.patience_seconds = ranks->patience_seconds();
    meeting.place = [ranks] { return ranks->Place(); };
    exchange_ = backend.JoinRanks(meeting, &stays_on_device_);
  }
}

std::unique_ptr<Buffer> RankMemory::Allocate(int64_t size_bytes) const {
  return backend_ != nullptr ? backend_->Allocate(size_bytes) : AllocateOnHost(size_bytes);
}

void RankMemory::AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from) {
  if (exchange_ != nullptr) {
    exchange_->AllToAll(to, from);
  } else if (backend_ != nullptr) {
    ThroughHost(to, from);
  } else {
    ranks_->AllToAll(to, from);
  }
}

void RankMemory::ThroughHost(std::span<const SentPart> to, std::span<const ReceivedPart> from) {
  int64_t sent_bytes = 0;
  int64_t received_bytes = 0;
  for (size_t r = 0; r < to.size(); ++r) {
    sent_bytes += to[r].size_bytes;
    received_bytes += from[r].size_bytes;
  }
  std::byte* next = Room(sent_, sent_bytes);
  std::vector<SentPart> host_to(to.begin(), to.end());
  for (size_t r = 0; r < to.size(); ++r) {
    if (r > 0 && to[r].data == to[r - 1].data && to[r].size_bytes == to[r - 1].size_bytes) {
      host_to[r].data = host_to[r - 1].data;  // the same for all
      continue;
    }
    backend_->Download(next, to[r].data, to[r].size_bytes);
    host_to[r].data = next;
    next += to[r].size_bytes;
  }
  next = Room(received_, received_bytes);
  std::vector<ReceivedPart> host_from(from.begin(), from.end());
  for (ReceivedPart& part : host_from) {
    part.data = next;
    next += part.size_bytes;
  }
  ranks_->AllToAll(host_to, host_from);
  for (size_t r = 0; r < from.size(); ++r) {
    backend_->Upload(from[r].data, host_from[r].data, from[r].size_bytes);
  }
}

std::string RankMemory::Describe() const {
  if (exchange_ != nullptr) {
    return exchange_->Describe();
  }
  return backend_ == nullptr || stays_on_device_ ? "host memory" : "host memory: " + stays_on_device_.reason;
}

}  // namespace lamina
