// The kernel of a kernel machine, as all who compute it have it.
#pragma once

namespace lamina {

/// exp(-(d / scale)^power) of distances d = |x - z|_p.
struct KernelShape {
  int p = 1;  // 1 or 2
  double power = 1;
  double scale = 1;
};

}  // namespace lamina
