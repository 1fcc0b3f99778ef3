// The kernel for small networks, once a synapse of the first layer.
#include "lamina/backend/cuda/network.cuh"

namespace lamina::LAMINA_CUDA_NAMESPACE {

Verdict MayLaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes) {
  Verdict verdict = Verdict::Yes();
  VisitSynapse(synapse, [&]<class S>(S) {
    verdict = device.MayLaunchTogether(&NetworkKernel<S, float>, blocks, kNetworkThreads, shared_bytes);
  });
  return verdict;
}

void LaunchNetwork(Device& device, Synapse synapse, int blocks, int64_t shared_bytes, const NetworkArgs<float>& args) {
  VisitSynapse(synapse, [&]<class S>(S) {
    device.LaunchTogether("network", &NetworkKernel<S, float>, dim3{static_cast<unsigned>(blocks), 1, 1},
                          kNetworkThreads, shared_bytes, args);
  });
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
