// Ranks that meet on the host, then exchange between their GPUs.
#include "lamina/backend/cuda/cuda_ranks.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "lamina/backend/cuda/arrays.h"
#include "lamina/backend/cuda/nccl.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

class CudaArrayMath final : public ArrayMath {
 public:
  explicit CudaArrayMath(const std::shared_ptr<Device>& device) : device_(device) {}

  void Scale(float* to, const float* from, float scale, int64_t count) noexcept override {
    LaunchScale(*device_, to, from, scale, false, count);
  }
  void Scale(double* to, const double* from, double scale, int64_t count) noexcept override {
    LaunchScale(*device_, to, from, scale, false, count);
  }
  void AddScaled(float* to, const float* more, float scale, int64_t count) noexcept override {
    LaunchScale(*device_, to, more, scale, true, count);
  }
  void AddScaled(double* to, const double* more, double scale, int64_t count) noexcept override {
    LaunchScale(*device_, to, more, scale, true, count);
  }
  void Add(float* to, const float* more, int64_t count) noexcept override {
    LaunchScale(*device_, to, more, 1.0F, true, count);
  }
  void Add(double* to, const double* more, int64_t count) noexcept override {
    LaunchScale(*device_, to, more, 1.0, true, count);
  }
  void ToBFloat16(BFloat16* to, const float* from, int64_t count) noexcept override {
    LaunchConvert(*device_, to, from, count);
  }
  void ToBFloat16(BFloat16* to, const double* from, int64_t count) noexcept override {
    LaunchConvert(*device_, to, from, count);
  }
  void FromBFloat16(float* to, const BFloat16* from, int64_t count) noexcept override {
    LaunchConvert(*device_, to, from, count);
  }
  void FromBFloat16(double* to, const BFloat16* from, int64_t count) noexcept override {
    LaunchConvert(*device_, to, from, count);
  }

 private:
  std::shared_ptr<Device> device_;
};

class NcclExchange final : public DeviceExchange {
 public:
  NcclExchange(const std::shared_ptr<Device>& device, const std::string& id, const RankMeeting& meeting)
      : device_(device), rank_(meeting.rank), nccl_(*device, id, meeting) {}

  void AllToAll(std::span<const SentPart> to, std::span<const ReceivedPart> from) noexcept override {
    const SentPart& own = to[static_cast<size_t>(rank_)];
    device_->Copy(from[static_cast<size_t>(rank_)].data, own.data, own.size_bytes);
    nccl_.SendAndReceive(to, from);
  }
  std::string Describe() const override { return "NCCL " + NcclVersion(); }

 private:
  std::shared_ptr<Device> device_;
  int rank_;
  NcclRank nccl_;
};

// What the ranks say of themselves, and why they cannot exchange by NCCL, which all of them find alike.
Verdict CanJoin(const RankMeeting& meeting, const std::string& gpu) {
  const Verdict mine = NcclAvailable();
  const std::vector<std::string> reasons = meeting.gather(mine ? "" : mine.reason);
  const std::vector<std::string> versions = meeting.gather(mine ? NcclVersion() : "");
  const std::vector<std::string> gpus = meeting.gather(gpu);
  for (size_t r = 0; r < gpus.size(); ++r) {
    if (!reasons[r].empty()) {
      return Verdict::No(fmt::format("no NCCL on rank {}: {}", r, reasons[r]));
    }
    if (versions[r] != versions[0]) {
      return Verdict::No(fmt::format("rank 0 has NCCL {} and rank {} has {}", versions[0], r, versions[r]));
    }
    for (size_t other = 0; other < r; ++other) {
      if (gpus[other] == gpus[r]) {
        return Verdict::No(fmt::format("ranks {} and {} share a GPU", other, r));
      }
    }
  }
  return Verdict::Yes();
}

}  // namespace

std::unique_ptr<ArrayMath> MakeCudaArrayMath(const std::shared_ptr<Device>& device) {
  return std::make_unique<CudaArrayMath>(device);
}

std::unique_ptr<DeviceExchange> JoinCudaRanks(const RankMeeting& meeting, const std::shared_ptr<Device>& device,
                                              Verdict* why) {
  *why = CanJoin(meeting, device->facts().id);
  if (!*why) {
    return nullptr;
  }
  std::string id;
  std::string failure;
  if (meeting.rank == 0) {  // the others hear of a failure
    try {
      id = MakeNcclId();
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  failure = meeting.gather(failure)[0];
  id = meeting.gather(id)[0];
  if (!failure.empty()) {
    throw Error(ErrorCode::kUnsupported, failure);
  }
  return std::make_unique<NcclExchange>(device, id, meeting);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
