// One graph of a single step, one of many: a launch of a graph costs some microseconds, and so does a gap between two.
#include "lamina/backend/cuda/cuda_steps.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "lamina/backend/cuda/whole_batch.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr int64_t kStepsTogether = 16;

// What is fixed when steps are recorded.
using Addresses =
    std::tuple<const void*, int64_t, const void*, int64_t, const void*, const int64_t*, int64_t, LossSums*, UpdateKind>;

Addresses AddressesOf(const TrainingSteps& work) {
  return {work.x.data, work.x.stride, work.targets.data, work.targets.stride, work.sample_weights,
          work.order,  work.batch,    work.sums,         work.rule.kind};
}

class CudaSteps final : public RecordedSteps {
 public:
  CudaSteps(const std::shared_ptr<Device>& device, const std::shared_ptr<JointLaunch>& joint)
      : device_(device), joint_(joint), live_(static_cast<LiveStep*>(device->Allocate(sizeof(LiveStep)))) {
    LaunchAdvance(*device_, live_, 0);  // loads the kernel, which no step outside of recordings does
  }
  ~CudaSteps() override {
    if (entered_) {
      joint_->Leave(*device_);
    }
    device_->Free(live_);
    device_->Free(rates_);
  }
  CudaSteps(const CudaSteps&) = delete;
  CudaSteps& operator=(const CudaSteps&) = delete;

  void Run(const TrainingSteps& work, const StepFunction& step) override {
    if (work.begin >= work.end) {
      return;
    }
    int64_t at = work.begin;
    int64_t done = 0;
    const auto ask = [&](int64_t rows) {
      step(at, rows, work.RuleAt(done));
      at += rows;
      ++done;
    };
    if (!entered_) {
      joint_->Enter(*device_);
      entered_ = true;
    }
    if (const Addresses now = AddressesOf(work); now != recorded_for_) {
      joint_->Forget(*device_);
      one_.reset();
      many_.reset();
      recorded_for_ = now;
      ask(std::min(work.batch, work.end - at));  // libraries choose and load what cannot be done while recording
    }
    LiveStep live{work.RuleAt(done), at, RatesFrom(work, done)};
    live.WorkOutNumbers();
    device_->Upload(live_, &live, sizeof(live));
    int64_t steps = (work.end - at) / work.batch;  // whole ones
    done += steps;
    at += steps * work.batch;
    for (; steps >= kStepsTogether; steps -= kStepsTogether) {
      Repeat(many_, kStepsTogether, work, step);
    }
    for (; steps > 0; --steps) {
      Repeat(one_, 1, work, step);
    }
    if (at < work.end) {
      ask(work.end - at);
    }
    device_->Synchronize();
  }

 private:
  using Recording = std::unique_ptr<Device::Recording>;

  // The rates of the steps from `done` on, and one behind them: the last step looks at the next one's.
  const double* RatesFrom(const TrainingSteps& work, int64_t done) {
    if (work.rates == nullptr) {
      return nullptr;
    }
    std::vector<double> rates(work.rates + done, work.rates + work.count());
    rates.push_back(0);
    const int64_t count = std::ssize(rates);
    if (count > rates_count_) {
      device_->Free(std::exchange(rates_, nullptr));
      rates_count_ = 0;
      rates_ = static_cast<double*>(device_->Allocate(count * static_cast<int64_t>(sizeof(double))));
      rates_count_ = count;
    }
    device_->Upload(rates_, rates.data(), count * static_cast<int64_t>(sizeof(double)));
    return rates_;
  }

  void Repeat(Recording& recording, int64_t steps, const TrainingSteps& work, const StepFunction& step) {
    if (recording == nullptr) {
      UpdateRule shares = work.rule;
      shares.learning_rate = 1;  // what a parameter's update is then told is its share
      device_->SetLive(live_);
      try {
        recording = device_->Record([&] {
          for (int64_t i = 0; i < steps; ++i) {
            step(0, work.batch, shares);
            LaunchAdvance(*device_, live_, work.batch);
          }
        });
      } catch (...) {
        device_->SetLive(nullptr);
        throw;
      }
      device_->SetLive(nullptr);
    }
    joint_->Run({device_.get(), recording.get()});
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<JointLaunch> joint_;
  bool entered_ = false;
  LiveStep* live_;
  double* rates_ = nullptr;
  int64_t rates_count_ = 0;
  Addresses recorded_for_{};
  Recording one_;
  Recording many_;
};

}  // namespace

std::unique_ptr<RecordedSteps> MakeCudaSteps(const std::shared_ptr<Device>& device,
                                             const std::shared_ptr<JointLaunch>& joint) {
  return std::make_unique<CudaSteps>(device, joint);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
