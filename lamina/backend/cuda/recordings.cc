// Recorded work is a CUDA graph, of several devices a graph of theirs.
#include "lamina/backend/cuda/recordings.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/backend/cuda/runtime_call.h"

namespace lamina::cuda {
namespace {

// Graph and what is made of it to be launched; null until then.
class Graph {
 public:
  Graph() = default;
  ~Graph() {
    if (ready_ != nullptr) {
      cudaGraphExecDestroy(ready_);
    }
    if (graph_ != nullptr) {
      cudaGraphDestroy(graph_);
    }
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  cudaGraph_t& graph() { return graph_; }
  void Prepare() { Require(cudaGraphInstantiate(&ready_, graph_, 0), "preparing recorded work"); }
  void Launch(Device& device) noexcept {
    device.Use();
    if (const cudaError_t error = cudaGraphLaunch(ready_, StreamOf(device)); error != cudaSuccess) {
      device.KeepError(fmt::format("recorded work failed: {}", cudaGetErrorString(error)));
    }
  }
  static cudaStream_t StreamOf(const Device& device) { return static_cast<cudaStream_t>(device.stream()); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

class GraphRecording final : public Device::Recording {
 public:
  explicit GraphRecording(Device& device) : device_(device) {}
  void Run() noexcept override { graph_.Launch(device_); }
  Graph& graph() { return graph_; }

 private:
  Device& device_;
  Graph graph_;
};

class Event {
 public:
  Event() { Require(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Work of `later` waits for what `earlier` was asked for so far.
  void Order(Device& earlier, Device& later) noexcept {
    earlier.Use();
    cudaError_t error = cudaEventRecord(event_, Graph::StreamOf(earlier));
    if (error == cudaSuccess) {
      error = cudaStreamWaitEvent(Graph::StreamOf(later), event_, 0);
    }
    if (error != cudaSuccess) {
      later.KeepError(fmt::format("the order of recorded work: {}", cudaGetErrorString(error)));
    }
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// The stream of the first branch launches, and the other streams meet it before and after.
class GraphsTogether final : public Device::Recording {
 public:
  explicit GraphsTogether(const std::vector<Recorded>& branches) {
    branches.front().device->Use();
    Require(cudaGraphCreate(&graph_.graph(), 0), "joining recorded work");
    for (const Recorded& branch : branches) {
      cudaGraphNode_t node = nullptr;
      auto& recording = static_cast<GraphRecording&>(*branch.work);
      Require(cudaGraphAddChildGraphNode(&node, graph_.graph(), nullptr, 0, recording.graph().graph()),
              "joining recorded work");
      devices_.push_back(branch.device);
    }
    graph_.Prepare();
  }
  void Run() noexcept override {
    Device& first = *devices_.front();
    const auto each_other = [&](const auto& order) {
      std::for_each(devices_.begin() + 1, devices_.end(), [&](Device* device) { order(*device); });
    };
    each_other([&](Device& other) { event_.Order(other, first); });
    graph_.Launch(first);
    each_other([&](Device& other) { event_.Order(first, other); });
  }

 private:
  std::vector<Device*> devices_;
  Graph graph_;
  Event event_;
};

}  // namespace

std::unique_ptr<Device::Recording> Together(const std::vector<Recorded>& branches) {
  return std::make_unique<GraphsTogether>(branches);
}

std::unique_ptr<Device::Recording> Device::Record(const std::function<void()>& work) {
  ThrowKept();
  Use();
  auto recording = std::make_unique<GraphRecording>(*this);
  // Ends the recording whatever happens, or the stream would record for ever.
  struct Capture {
    cudaStream_t stream;
    cudaGraph_t& graph;
    bool ended = false;
    cudaError_t End() {
      ended = true;
      return cudaStreamEndCapture(stream, &graph);
    }
    ~Capture() {
      if (!ended) {
        End();
      }
      cudaGetLastError();  // of a recording that failed
    }
  };
  Require(cudaStreamBeginCapture(Graph::StreamOf(*this), cudaStreamCaptureModeThreadLocal), "recording work");
  Capture capture{Graph::StreamOf(*this), recording->graph().graph()};
  work();
  const cudaError_t ended = capture.End();
  ThrowKept();
  Require(ended, "recording work");
  recording->graph().Prepare();
  return recording;
}

}  // namespace lamina::cuda
