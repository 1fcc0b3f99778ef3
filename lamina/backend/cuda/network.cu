// The kernel for small networks, once a synapse of the first layer.
#include "lamina/backend/cuda/network.cuh"

#include <type_traits>

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

// Rows of distances are never rounded.
template <class S>
auto KernelOf([[maybe_unused]] bool rounded) {
  if constexpr (std::is_same_v<S, formulas::DotSynapse>) {
    if (rounded) {
      return &NetworkKernel<S, float, true>;
    }
  }
  return &NetworkKernel<S, float, false>;
}

}  // namespace

Verdict MayLaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes, bool rounded) {
  Verdict verdict = Verdict::Yes();
  VisitSynapse(synapse, [&]<class S>(S) {
    verdict = device.MayLaunchTogether(KernelOf<S>(rounded), blocks, kNetworkThreads, shared_bytes);
  });
  return verdict;
}

void LaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes, const NetworkArgs<float>& args) {
  VisitSynapse(synapse, [&]<class S>(S) {
    device.LaunchTogether("network", KernelOf<S>(args.rounded), dim3{static_cast<unsigned>(blocks), 1, 1},
                          kNetworkThreads, shared_bytes, args);
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
