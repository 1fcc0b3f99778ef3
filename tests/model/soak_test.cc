// Ten million predictions: the memory of the process stays what it was.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "lamina/lamina.h"
#include "lamina/model/model.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

int64_t Resident_bytes() {
  int64_t size = 0;
  int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(SoakSlow, TenMillionPredictionsKeepNoMemory) {
  constexpr int64_t kPredictions = 10'000'000;
  constexpr int64_t kRowsAtOnce = 50;
  const TemporaryFolder folder;
  Model model;
  model.network = Network({{4, 3, Synapse::kDot, Activation(), true}}, DType::kF32);
  SaveModel(folder.Path("model"), model);
  lamina_model* loaded = lamina_load(folder.Path("model").c_str());
  ASSERT_NE(loaded, nullptr) << lamina_error();
  std::vector<double> rows(kRowsAtOnce * 4, 0.25);
  std::vector<double> out(kRowsAtOnce * 3);
  int64_t failed = 0;
  const auto predict = [&](int64_t predictions) {
    for (int64_t done = 0; done < predictions;) {
      // By turns one row and several; a wrong call, too, whose error is kept until the next.
      const int64_t count = done % 3 == 0 ? 1 : kRowsAtOnce;
      failed += lamina_predict(loaded, rows.data(), count, out.data()) == 0 ? 0 : 1;
      failed += lamina_predict(loaded, rows.data(), -1, out.data()) == 0 ? 1 : 0;
      done += count;
    }
  };
  predict(kPredictions / 100);
  const int64_t before = Resident_bytes();
  predict(kPredictions);
  constexpr int64_t kNoise_bytes = 1 << 20;
  EXPECT_LE(Resident_bytes() - before, kNoise_bytes);
  EXPECT_EQ(failed, 0);
  lamina_free(loaded);
}

}  // namespace
}  // namespace lamina
