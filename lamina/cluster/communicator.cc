// What all communicators share: collective calls over one exchange.
#include "lamina/cluster/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lamina/base/check.h"
#include "lamina/base/error.h"
#include "lamina/base/timing.h"
#include "lamina/platform/process.h"
#include "lamina/platform/thread.h"

namespace lamina {

std::string HostName() { return platform::HostName(); }

std::string Communicator::NameOf(int rank) const {
  return fmt::format("rank {} of {} on host {}", rank, size(), host(rank));
}

std::string Communicator::Place() const {
  return epoch_ == 0 ? "" : fmt::format("in epoch {}, step {}", epoch_, step_);
}

void Communicator::ThrowSilent(int rank) const {
  throw Error(ErrorCode::kIo,
              fmt::format("{} waited {:.0f} s for {}{}{}", NameOf(rank_), patience_seconds_, NameOf(rank),
                          epoch_ == 0 ? "" : " ", Place()),
              {.remedy = "Look there what it does; --rank-timeout sets how long the others wait."});
}

void Communicator::ThrowIfCancelled() const {
  if (cancelled_) {
    throw Error(ErrorCode::kIo, fmt::format("{} ends what it was exchanging", NameOf(rank_)));
  }
}

void Communicator::AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from) {
  Check(std::ssize(to) == size() && std::ssize(from) == size(), "a part for every rank");
  const Stopwatch watch;
  Exchange(to, from);
  exchange_seconds_ += watch.Elapsed_seconds();
}

void Communicator::AllGather(const void* mine, int64_t size_bytes, void* all) {
  std::vector<SentPart> to(static_cast<size_t>(size()), {mine, size_bytes});
  std::vector<ReceivedPart> from;
  from.reserve(to.size());
  for (int r = 0; r < size(); ++r) {
    from.push_back({static_cast<char*>(all) + r * size_bytes, size_bytes});
  }
  AllToAll(to, from);
}

std::vector<std::string> Communicator::AllGather(const std::string& mine) {
  const int64_t own_size = std::ssize(mine);
  std::vector<int64_t> sizes(static_cast<size_t>(size()));
  AllGather(&own_size, sizeof(own_size), sizes.data());
  std::vector<std::string> all;
  all.reserve(sizes.size());
  std::vector<ReceivedPart> from;
  for (const int64_t bytes : sizes) {
    all.emplace_back(static_cast<size_t>(bytes), '\0');
    from.push_back({all.back().data(), bytes});
  }
  AllToAll(std::vector<SentPart>(sizes.size(), {mine.data(), own_size}), from);
  return all;
}

void Communicator::Broadcast(void* data, int64_t size_bytes, int root) {
  std::vector<SentPart> to(static_cast<size_t>(size()));
  std::vector<ReceivedPart> from(static_cast<size_t>(size()));
  if (rank_ == root) {
    std::fill(to.begin(), to.end(), SentPart{data, size_bytes});
    to[static_cast<size_t>(root)] = {};
  } else {
    from[static_cast<size_t>(root)] = {data, size_bytes};
  }
  AllToAll(to, from);
}

bool Communicator::Any(bool mine) {
  const char own = mine ? 1 : 0;
  std::string all(static_cast<size_t>(size()), '\0');
  AllGather(&own, 1, all.data());
  return all.find('\1') != std::string::npos;
}

void Communicator::Barrier() { Any(false); }

void Communicator::Introduce(int rank, int size, const std::string& host) {
  rank_ = rank;
  hosts_.assign(static_cast<size_t>(size), "?");
  hosts_ = AllGather(host);
}

void RequireSame(Communicator& ranks, const std::string& what, const std::string& value, const std::string& remedy) {
  const std::vector<std::string> all = ranks.AllGather(value);
  for (int r = 1; r < ranks.size(); ++r) {
    const std::string& other = all[static_cast<size_t>(r)];
    if (other != all[0]) {
      constexpr size_t kShown = 60;
      const bool short_enough = other.size() <= kShown && all[0].size() <= kShown;
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} must be the same on all ranks: {}{}, {}{}", what, ranks.NameOf(0),
                              short_enough ? fmt::format(" has {}", all[0]) : "", ranks.NameOf(r),
                              short_enough ? fmt::format(" has {}", other) : " has another one"),
                  {.remedy = remedy});
    }
  }
}

int NumberOnHost(const Communicator& ranks) {
  int before = 0;
  for (int r = 0; r < ranks.rank(); ++r) {
    before += ranks.host(r) == ranks.host(ranks.rank()) ? 1 : 0;
  }
  return before;
}

int CoresOfRank(Communicator& ranks) {
  constexpr size_t kProcessorWords = 16;  // of 64 processors each
  std::vector<uint64_t> mine = platform::UsableProcessors();
  mine.resize(kProcessorWords);
  std::vector<uint64_t> all(static_cast<size_t>(ranks.size()) * kProcessorWords);
  ranks.AllGather(mine.data(), static_cast<int64_t>(kProcessorWords * sizeof(uint64_t)), all.data());
  std::vector<uint64_t> host(kProcessorWords);
  int here = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    if (ranks.host(r) == ranks.host(ranks.rank())) {
      for (size_t w = 0; w < kProcessorWords; ++w) {
        host[w] |= all[static_cast<size_t>(r) * kProcessorWords + w];
      }
      ++here;
    }
  }
  return std::max(1, platform::CountOf(host) / here);
}

}  // namespace lamina
