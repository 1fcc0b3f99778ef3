// What ranks send to each other in one exchange.
#pragma once

#include <cstdint>

namespace lamina {

struct SentPart {
  const void* data = nullptr;
  int64_t size_bytes = 0;
};
struct ReceivedPart {
  void* data = nullptr;
  int64_t size_bytes = 0;
};

}  // namespace lamina
