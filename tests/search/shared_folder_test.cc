// Claims of several workers in one folder: on one machine, on several, and after deaths.
#include "lamina/search/shared_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "lamina/base/file.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

using namespace std::chrono_literals;

std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

TEST(SharedFolder, EveryPartGoesToOneWorker) {
  const TemporaryFolder folder;
  constexpr int kParts = 40;
  std::vector<std::unique_ptr<SharedFolder>> workers;
  for (int w = 0; w < 4; ++w) {
    workers.push_back(std::make_unique<SharedFolder>(folder.Path("."), SharedFolder::Options{}));
  }
  std::vector<std::atomic<int>> owners(kParts);
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&owners, shared = worker.get()] {
      for (int part = 0; part < kParts; ++part) {
        owners[static_cast<size_t>(part)] += shared->Claim("part-" + std::to_string(part)) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& owner : owners) {
    EXPECT_EQ(owner, 1);
  }
  EXPECT_EQ(workers[0]->Others(), 3);
}

TEST(SharedFolder, AWorkerThatEndsGivesItsPartsBack) {
  const TemporaryFolder folder;
  auto first = std::make_unique<SharedFolder>(folder.Path("."), SharedFolder::Options{});
  SharedFolder second(folder.Path("."), {});
  EXPECT_TRUE(first->Claim("a"));
  EXPECT_FALSE(second.Claim("a"));
  first.reset();
  EXPECT_TRUE(second.Claim("a"));
}

// A claim says whose it is; one that another program wrote names no file outside of the folder.
TEST(SharedFolder, AClaimRemovesNothingElse) {
  const TemporaryFolder above;
  std::filesystem::create_directory(above.Path("folder"));
  SharedFolder worker(above.Path("folder"), {.machine = "here"});
  for (const std::string& other : {above.Path("mine.heartbeat"), above.Path("worker-0123456789abcdef.heartbeat")}) {
    WriteFileAtomically(other, "here 7\n");
    for (const std::string& owner : {other, "../" + std::filesystem::path(other).filename().string()}) {
      worker.Replace("a.claim-1", owner);
      worker.Claim("a");
      EXPECT_EQ(ReadFile(other), "here 7\n") << owner;
    }
  }
}

// The heartbeat file of a dead worker of another machine stays: nothing but the lease tells that it is dead.
TEST(SharedFolder, ADeadWorkerOfAnotherMachineLosesItsPartAfterTheLease) {
  const TemporaryFolder folder;
  const std::string heartbeat = "worker-0123456789abcdef.heartbeat";
  auto now = std::chrono::steady_clock::now();
  SharedFolder worker(folder.Path("."), {.lease_seconds = 1, .machine = "here", .now = [&] { return now; }});
  worker.Replace(heartbeat, "there 00000000000000000007\n");
  worker.Replace("a.claim-1", heartbeat);
  worker.Replace("b.claim-1", "");  // died between creating and writing
  EXPECT_FALSE(worker.Claim("a"));
  EXPECT_FALSE(worker.Claim("b"));
  EXPECT_EQ(worker.Others(), 1);
  now += 700ms;
  worker.Replace(heartbeat, "there 00000000000000000003\n");  // any change is a sign of life
  now += 600ms;
  EXPECT_FALSE(worker.Claim("a"));
  EXPECT_TRUE(worker.Claim("b"));
  now += 900ms;
  EXPECT_FALSE(worker.Claim("a"));
  now += 200ms;
  EXPECT_TRUE(worker.Claim("a"));
  EXPECT_FALSE(NamesIn(folder.Path(".")).contains(heartbeat));
}

TEST(SharedFolder, AWorkerThatBeatsKeepsItsPartBeyondTheLease) {
  const TemporaryFolder folder;
  auto now = std::chrono::steady_clock::now();
  SharedFolder first(folder.Path("."), {.lease_seconds = 1, .machine = "there"});
  SharedFolder second(folder.Path("."), {.lease_seconds = 1, .machine = "here", .now = [&] { return now; }});
  ASSERT_TRUE(first.Claim("a"));
  const std::string heartbeat = *NamesIn(folder.Path(".")).lower_bound("worker-");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(second.Claim("a")) << i;
    const auto before = second.Read(heartbeat);
    while (second.Read(heartbeat) == before) {
      std::this_thread::sleep_for(1ms);
    }
    now += 900ms;
  }
}

// A lock that nobody holds: killed on this machine.
TEST(SharedFolder, ADeathOnThisMachineShowsAtOnce) {
  const TemporaryFolder folder;
  SharedFolder worker(folder.Path("."), {.lease_seconds = 1000, .machine = "here"});
  worker.Replace("worker-0123456789abcdef.heartbeat", "here 00000000000000000007\n");
  worker.Replace("a.claim-1", "worker-0123456789abcdef.heartbeat");
  EXPECT_TRUE(worker.Claim("a"));
  EXPECT_EQ(worker.Others(), 0);
}

TEST(SharedFolder, AWorkerTakenForDeadGoesOnWithAnotherHeartbeat) {
  const TemporaryFolder folder;
  SharedFolder worker(folder.Path("."), {.lease_seconds = 1});
  ASSERT_TRUE(worker.Claim("a"));
  for (const std::string& name : NamesIn(folder.Path("."))) {
    if (name.ends_with(".heartbeat")) {
      std::filesystem::remove(folder.Path(name));
    }
  }
  EXPECT_TRUE(worker.Claim("b"));
  SharedFolder other(folder.Path("."), {});
  EXPECT_TRUE(other.Claim("a"));
  EXPECT_FALSE(other.Claim("b"));
}

TEST(SharedFolder, TheFirstResultCounts) {
  const TemporaryFolder folder;
  SharedFolder first(folder.Path("."), {});
  SharedFolder second(folder.Path("."), {});
  EXPECT_FALSE(first.Read("r").has_value());
  EXPECT_TRUE(first.WriteOnce("r", "1"));
  EXPECT_FALSE(second.WriteOnce("r", "2"));
  EXPECT_EQ(second.Read("r").value(), "1");
  second.Replace("r", "3");
  EXPECT_EQ(first.Read("r").value(), "3");
  EXPECT_EQ(NamesIn(folder.Path(".")), std::set<std::string>{"r"});
}

}  // namespace
}  // namespace lamina
