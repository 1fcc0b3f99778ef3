// Plans as text, and the profile of a device: lookups, merging, and files that are damaged or foreign.
#include "lamina/tune/profile.h"

#include <cstdlib>

#include <filesystem>

#include "gtest/gtest.h"
#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

Profile Empty() { return Profile(*MakeBackend("cpu", {.threads = 2})); }

ProfileEntry Entry(const char* problem, const char* plan, double gain = 1.5) {
  return {Problem::Parse(problem), Plan::Parse(plan), gain};
}

TEST(Plan, TextThereAndBack) {
  for (const char* text :
       {"estimate", "kernel=dots threads=1", "kernel=tile tile=8x3 depth=1024 cache=524288 threads=2", "tile=6x2",
        "kernel=onednn", "kernel=amx depth=512", "depth=256 asymmetry=0.25"}) {
    EXPECT_EQ(Plan::Parse(text).Text(), text);
  }
}

// What a backend offers for measuring is found again in a profile.
TEST(Plan, EveryCandidateOfEveryBackendIsReadBack) {
  for (const std::unique_ptr<Backend>& backend : AllBackends(2)) {
    for (const char* problem : {"dot-tanh:f32:forward:300x200x100", "dot-tanh:f32-fast:forward:300x200x100",
                                "l1-identity:f32:input_gradient:300x200x100", "dot-tanh:bf16:forward:300x200x100"}) {
      for (const Plan& plan : backend->Candidates(Problem::Parse(problem))) {
        EXPECT_EQ(Plan::Parse(plan.Text()), plan) << backend->name() << " " << problem;
      }
    }
  }
}

TEST(Plan, ErrorsNameTheWord) {
  for (const char* text : {"kernel=fast", "kernel=cublaslt:x", "tile=8", "tile=0x3", "depth=-1", "threads=two",
                           "speed=9", "depth", "asymmetry=0", "cache=99999999999999999999"}) {
    const Error error = CaughtError([&] { Plan::Parse(text); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(Profile, NearestWithinAFactorOfTwoThenCommonThenEstimate) {
  Profile profile = Empty();
  const Problem asked = Problem::Parse("dot-tanh:f32:forward:150x1000x784");
  EXPECT_EQ(profile.PlanFor(asked), Plan());
  profile.Add(Entry("dot-tanh:f32:forward:128x1024x784", "kernel=tile depth=512 threads=1"));
  profile.Add(Entry("dot-tanh:f32:forward:256x1024x784", "kernel=tile depth=256"));
  EXPECT_EQ(profile.PlanFor(asked).Text(), "kernel=tile depth=512 threads=1");
  EXPECT_EQ(profile.PlanFor(Problem::Parse("dot-relu-nobias:f32:forward:250x1024x784")).depth, 256);
  // Far from both, which have no tile or blocks in common: the estimate.
  EXPECT_EQ(profile.PlanFor(Problem::Parse("dot-tanh:f32:forward:9000x1024x784")), Plan());
  profile.Add(Entry("dot-tanh:f32:forward:16x1024x784", "depth=256"));
  EXPECT_EQ(profile.PlanFor(Problem::Parse("dot-tanh:f32:forward:9000x1024x784")).Text(), "depth=256");
  // Another type, pass, synapse or precision is another kind.
  for (const char* other : {"dot-tanh:f64:forward:128x1024x784", "dot-tanh:f32:input_gradient:128x1024x784",
                            "l1-identity:f32:forward:128x1024x784", "dot-tanh:f32-fast:forward:128x1024x784"}) {
    EXPECT_EQ(profile.PlanFor(Problem::Parse(other)), Plan()) << other;
  }
}

TEST(Profile, AddingReplaces) {
  Profile profile = Empty();
  profile.Add(Entry("dot-tanh:f32:forward:128x1024x784", "depth=512"));
  profile.Add(Entry("dot-relu:f32:forward:128x1024x784", "depth=256"));
  ASSERT_EQ(profile.entries().size(), 1U);
  EXPECT_EQ(profile.entries()[0].plan.depth, 256);
}

TEST(Profile, TextThereAndBack) {
  Profile profile = Empty();
  profile.Add(Entry("l1-identity:u8:forward:128x1024x784", "kernel=tile tile=8x2", 1.25));
  profile.Add(Entry("dot-tanh:f32:weight_gradient:1x2x3", "estimate", 1));
  Profile again = Empty();
  again.Merge(profile.Text(), "memory");
  EXPECT_EQ(again.Text(), profile.Text());
}

TEST(Profile, ForeignAndDamagedTextsAreRefusedWhole) {
  Profile profile = Empty();
  profile.Add(Entry("dot-tanh:f32:forward:128x1024x784", "depth=512"));
  const std::string whole = profile.Text();
  const std::string text = whole.substr(0, whole.rfind("checksum: "));  // as earlier versions wrote it
  Empty().Merge(text, "old.profile");
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const std::string& bad :
       {std::string(), std::string("hello\n"), replaced("profile 1", "profile 2"), replaced("device: ", "device: X"),
        replaced("kernels: ", "kernels: 9"), replaced("backend: ", "backend: x"), replaced("depth=512", "depth=x"),
        replaced("f32", "f31"), replaced("| 1.500", "| -1"), replaced("| 1.500", ""), text.substr(0, text.size() - 3),
        whole.substr(0, whole.size() - 3),
        whole.substr(0, whole.find("1.500")) + "9.500" + whole.substr(whole.find("1.500") + 5)}) {
    Profile other = Empty();
    const Error error = CaughtError([&] { other.Merge(bad, "some.profile"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadData) << bad;
    EXPECT_NE(std::string(error.what()).find("some.profile:"), std::string::npos) << error.what();
    EXPECT_TRUE(other.entries().empty());
  }
}

TEST(Profile, TakesNoOtherFilesPlace) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("one.profile", "a person's");
  EXPECT_EQ(CaughtError([&] { Empty().Save(path); }).context().file, path);
  EXPECT_EQ(ReadFile(path), "a person's");
  std::filesystem::create_symlink(path, folder.Path("link"));
  EXPECT_EQ(CaughtError([&] { Empty().Save(folder.Path("link")); }).code(), ErrorCode::kIo);
  for (const char* own : {"lamina tuning profile 1\nnonsense", "lamina tuning profile 9\n"}) {
    folder.Write("one.profile", own);
    Empty().Save(path);
    EXPECT_EQ(ReadFile(path), Empty().Text());
  }
}

TEST(Profile, AFileInThePlaceOfItsFolder) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("plain"), "a file");
  const Error error = CaughtError([&] { Empty().Save(folder.Path("plain/cache/one.profile")); });
  EXPECT_EQ(error.code(), ErrorCode::kIo);
  EXPECT_TRUE(Mentions(error.what(), "cannot make the folder"));
}

// The folder comes from the environment.
class StoredProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.Path().c_str(), 1);
    unsetenv("LAMINA_TUNE");
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("LAMINA_TUNE");
  }
  TemporaryFolder folder_;
};

TEST_F(StoredProfileTest, IsUsedUnlessForbiddenDamagedOrForeign) {
  const auto backend = MakeBackend("cpu", {.threads = 1});
  const std::string path = ProfilePath(*backend);
  ASSERT_TRUE(path.starts_with(folder_.Path()));
  EXPECT_EQ(LoadStoredProfile(*backend).profile, nullptr);
  Profile profile(*backend);
  profile.Add(Entry("dot-tanh:f32:forward:128x1024x784", "kernel=dots threads=1"));
  profile.Save(path);
  std::string warning = "?";
  const auto tuned = MakeTunedBackend("cpu", {.threads = 1}, &warning);
  EXPECT_EQ(warning, "");
  const LayerPlanRequest request{{784, 1024, Synapse::kDot, "tanh", true}, DType::kF32, 128};
  EXPECT_NE(tuned->Prepare(request)->Describe().find("unpacked"), std::string::npos);
  EXPECT_EQ(backend->Prepare(request)->Describe().find("unpacked"), std::string::npos);
  // Plans for one thread are not those for two.
  EXPECT_EQ(LoadStoredProfile(*MakeBackend("cpu", {.threads = 2})).profile, nullptr);

  setenv("LAMINA_TUNE", "off", 1);
  EXPECT_EQ(LoadStoredProfile(*backend).profile, nullptr);
  unsetenv("LAMINA_TUNE");

  WriteFileAtomically(path, profile.Text() + "nonsense\n");
  const StoredProfile damaged = LoadStoredProfile(*backend);
  EXPECT_EQ(damaged.profile, nullptr);
  EXPECT_NE(damaged.warning.find(path), std::string::npos) << damaged.warning;
  MakeTunedBackend("cpu", {.threads = 1}, &warning);
  EXPECT_EQ(warning, damaged.warning);
}

}  // namespace
}  // namespace lamina
