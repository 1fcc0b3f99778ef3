// Where systems of kernel machines can be solved: by the processor, and by a GPU or its emulation.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/configurations.h"

namespace lamina {

inline constexpr const char* kProcessor = "processor";

/// Names of places; those of a GPU begin with "cuda_", as the names of their tests must (tests/CMakeLists.txt).
inline std::vector<std::string> KernelPlaces() {
  std::vector<std::string> all{kProcessor};
  if (!conformance::CudaUnderTest().empty()) {
    all.push_back(conformance::Configuration{std::string(conformance::CudaUnderTest())}.Name());
  }
  return all;
}

/// A test at each place; Backend() is what options of machines name.
class AtKernelPlace : public testing::TestWithParam<std::string> {
 protected:
  AtKernelPlace() {
    if (GetParam() != kProcessor) {
      backend_ = conformance::Chosen::Make({std::string(conformance::CudaUnderTest())});
    }
  }
  const Backend* backend() const { return backend_.get(); }

 private:
  std::unique_ptr<Backend> backend_;
};

#define LAMINA_AT_KERNEL_PLACES(Suite)                                       \
  class Suite : public AtKernelPlace {};                                     \
  INSTANTIATE_TEST_SUITE_P(Places, Suite, testing::ValuesIn(KernelPlaces()), \
                           [](const auto& instance) { return instance.param; })

}  // namespace lamina
