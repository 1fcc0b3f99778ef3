// lamina.h from a thousand threads: one model answers all of them while others are loaded and freed.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "lamina/lamina.h"
#include "lamina/model/model.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

TEST(ManyThreadsSlow, PredictWhileOthersLoadAndFree) {
  constexpr int kThreads = 1000;
  constexpr int kCalls = 20;
  constexpr int64_t kInputs = 9;
  constexpr int64_t kOutputs = 4;
  const TemporaryFolder folder;
  const std::string path = folder.Path("model");
  Model model;
  model.network =
      Network({{kInputs, 33, Synapse::kDot, Activation(), true}, {33, kOutputs, Synapse::kDot, Activation(), true}},
              DType::kF32);
  for (int64_t i = 0; i < model.network.parameter_bytes() / int64_t{sizeof(float)}; ++i) {
    static_cast<float*>(model.network.parameters())[i] = static_cast<float>(i % 17 - 8) / 16;
  }
  SaveModel(path, model);

  lamina_model* shared = lamina_load(path.c_str());
  ASSERT_NE(shared, nullptr) << lamina_error();
  ASSERT_EQ(lamina_inputs(shared), kInputs);
  ASSERT_EQ(lamina_outputs(shared), kOutputs);
  const auto row_of = [](int thread) {
    std::vector<double> row(kInputs);
    for (int64_t i = 0; i < kInputs; ++i) {
      row[static_cast<size_t>(i)] = (thread * 7 + i) % 13 - 6;
    }
    return row;
  };
  std::vector<std::vector<double>> expected;
  for (int thread = 0; thread < kThreads; ++thread) {
    expected.emplace_back(kOutputs);
    ASSERT_EQ(lamina_predict(shared, row_of(thread).data(), 1, expected.back().data()), 0) << lamina_error();
  }
  EXPECT_NE(expected[0], expected[1]);

  std::atomic<int> wrong{0};
  std::atomic<int> answers{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      lamina_model* own = thread % 10 == 0 ? lamina_load(path.c_str()) : nullptr;
      const std::vector<double> row = row_of(thread);
      std::vector<double> out(kOutputs);
      for (int call = 0; call < kCalls; ++call) {
        const lamina_model* asked = own != nullptr && call % 2 == 0 ? own : shared;
        const bool right =
            lamina_predict(asked, row.data(), 1, out.data()) == 0 &&
            std::memcmp(out.data(), expected[static_cast<size_t>(thread)].data(), sizeof(double) * kOutputs) == 0;
        wrong += right ? 0 : 1;
        ++answers;
      }
      lamina_free(own);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  lamina_free(shared);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(answers, kThreads * kCalls);
}

}  // namespace
}  // namespace lamina
