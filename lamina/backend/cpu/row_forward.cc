// One row by the unpacked kernels.
#include "lamina/backend/cpu/row_forward.h"

#include "lamina/backend/cpu/kernels.h"

namespace lamina::cpu {

void ForwardRows(const LayerSpec& layer, const ForwardArgs& args) noexcept {
  DispatchFloat(args.x.dtype, [&]<class T>(T) {
    const ForwardTask<T> task{&args, &layer.activation, {}, {}};
    Kernels<T>().synapses[static_cast<size_t>(layer.synapse)].forward_dots(task, Team{});
  });
}

}  // namespace lamina::cpu
