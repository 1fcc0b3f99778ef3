// Claims of several workers in one folder: on one machine, on several, and after deaths.
#include "lamina/search/shared_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lamina/base/error.h"
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
  workers.reserve(4);
  for (int w = 0; w < 4; ++w) {
    workers.push_back(std::make_unique<SharedFolder>(folder.Path("."), SharedFolder::Options{}));
  }
  std::vector<std::atomic<int>> owners(kParts);
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
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

const char* const kDead = "worker-0123456789abcdef.heartbeat";  // there is no such file

TEST(SharedFolder, ADeadWorkersClaimIsReplaced) {
  const TemporaryFolder folder;
  SharedFolder worker(folder.Path("."), {});
  worker.Replace("a.claim-1", kDead);
  ASSERT_TRUE(worker.Claim("a"));
  EXPECT_FALSE(NamesIn(folder.Path(".")).contains("a.claim-2"));
  EXPECT_NE(worker.Read("a.claim-1").value(), kDead);
  EXPECT_FALSE(SharedFolder(folder.Path("."), {}).Claim("a"));
}

TEST(SharedFolder, ClaimsOfTheDeadAreForgottenAndNoOthers) {
  const TemporaryFolder folder;
  SharedFolder living(folder.Path("."), {});
  ASSERT_TRUE(living.Claim("a"));
  living.Replace("b.claim-1", kDead);
  living.Replace("c.claim-1", kDead);  // as another version, or a folder without locks, leaves them
  living.Replace("c.claim-2", kDead);
  living.Replace("d.claim-1", kDead);
  living.Replace("d.claim-2", kDead);
  living.Replace("d.claim-3", living.Read("a.claim-1").value());
  living.Replace("mine.claim-1", "a note");
  living.Replace("b.claim-x", kDead);
  std::filesystem::create_symlink(folder.Path("b.claim-x"), folder.Path("e.claim-1"));
  const std::string heartbeat = living.Read("a.claim-1").value();
  SharedFolder(folder.Path("."), {}).ForgetClaims();
  EXPECT_EQ(NamesIn(folder.Path(".")), (std::set<std::string>{"a.claim-1", "d.claim-1", "d.claim-2", "d.claim-3",
                                                              "mine.claim-1", "b.claim-x", "e.claim-1", heartbeat}));
  EXPECT_FALSE(SharedFolder(folder.Path("."), {}).Claim("d"));
}

TEST(SharedFolder, AWorkerThatEndsTakesItsClaimsWithIt) {
  const TemporaryFolder folder;
  {
    SharedFolder worker(folder.Path("."), {});
    ASSERT_TRUE(worker.Claim("a"));
    ASSERT_TRUE(worker.Claim("b"));
  }
  EXPECT_TRUE(NamesIn(folder.Path(".")).empty());
}

// While others forget them.
TEST(SharedFolder, OneOfManyTakesADeadWorkersPart) {
  const TemporaryFolder folder;
  constexpr int kParts = 100;
  constexpr int kWorkers = 4;
  std::vector<std::unique_ptr<SharedFolder>> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.push_back(std::make_unique<SharedFolder>(folder.Path("."), SharedFolder::Options{}));
    ASSERT_TRUE(workers.back()->Claim("own-" + std::to_string(w)));
  }
  for (int part = 0; part < kParts; ++part) {
    workers[0]->Replace("part-" + std::to_string(part) + ".claim-1", kDead);
  }
  std::vector<std::atomic<int>> owners(kParts);
  std::vector<std::thread> threads;
  threads.reserve(workers.size());
  for (const auto& worker : workers) {
    threads.emplace_back([&owners, shared = worker.get()] {
      for (int part = 0; part < kParts; ++part) {
        const auto index = static_cast<size_t>(part);
        while (owners[index] == 0) {  // whoever holds a claim's lock for a moment keeps others away
          owners[index] += shared->Claim("part-" + std::to_string(part)) ? 1 : 0;
        }
        if (part % 10 == 0) {
          shared->ForgetClaims();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& owner : owners) {
    EXPECT_EQ(owner, 1);
  }
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

// Another worker may give its claim back between two looks at its name.
TEST(SharedFolder, ANameThatComesAndGoesIsNoError) {
  const TemporaryFolder folder;
  SharedFolder worker(folder.Path("."), {});
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) {
      std::ofstream(folder.Path("r")) << "0";
      std::filesystem::remove(folder.Path("r"));
    }
  });
  int written = 0;
  std::string error;
  try {
    while (written < 300) {
      written += worker.WriteOnce("r", "1") ? 1 : 0;
    }
  } catch (const Error& thrown) {
    error = thrown.what();
  }
  ends = true;
  other.join();
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace lamina
