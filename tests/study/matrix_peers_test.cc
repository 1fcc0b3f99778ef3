// The race of the matrix, with a script in the place of other libraries.
#include "lamina/study/matrix_peers.h"

#include <map>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

// NumPy offers a case that takes 2 s and one that is wrong. JAX ends when asked for a time; faiss ends at once; the
// others offer nothing.
constexpr const char* kScript = R"(
[ "$1" = faiss ] && exit 0
while read -r line; do
  case "$1 $line" in
    "NumPy "*time*) echo '{"seconds": 2}' ;;
    "JAX "*time*) exit 1 ;;
    "NumPy "*) echo '{"peers": [{"name": "NumPy 2", "reason": ""}, {"name": "NumPy 1", "reason": "wrong: by 3"}]}' ;;
    "JAX "*) echo '{"peers": [{"name": "JAX 1", "reason": ""}]}' ;;
    *) echo '{"peers": []}' ;;
  esac
done
)";

std::map<std::string, PeerTimes> ByName(const std::vector<PeerTimes>& results) {
  std::map<std::string, PeerTimes> found;
  for (const PeerTimes& result : results) {
    EXPECT_TRUE(found.emplace(result.peer, result).second) << result.peer;
  }
  return found;
}

TEST(MatrixPeers, TakeTurns) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("peers"), kScript);
  MatrixPeers peers("sh", folder.Path("peers"), 2, {});
  int turns = 0;
  const auto lamina = [&] { return ++turns == 2 ? 0.25 : 0.5; };  // once twice as fast
  const std::string work = MatrixPeers::Layer(Problem::Parse("dot-tanh:f32:forward:8x16x32"));
  const auto first = ByName(peers.Race(work, lamina, 3, 0));
  EXPECT_EQ(turns, 3);
  ASSERT_EQ(first.size(), 4U);
  EXPECT_EQ(first.at("NumPy 2").reason, "");
  EXPECT_EQ(first.at("NumPy 2").seconds, 2);
  EXPECT_EQ(first.at("NumPy 2").lamina_seconds, 0.5);
  EXPECT_EQ(first.at("NumPy 2").times_as_long, 4);
  EXPECT_EQ(first.at("NumPy 1").reason, "wrong: by 3");
  EXPECT_EQ(first.at("JAX 1").reason, "its process ended");
  EXPECT_EQ(first.at("faiss").reason, "its process ended");
  // Those that ended are not asked again.
  EXPECT_EQ(peers.Race(MatrixPeers::Row({4, 3}), lamina, 1, 0).size(), 2U);
}

TEST(MatrixPeers, NobodyForWorkThatLibrariesDoNotHave) {
  EXPECT_EQ(MatrixPeers::Layer(Problem::Parse("l1-identity:u8:forward:8x16x32")), "");
  EXPECT_EQ(MatrixPeers::Layer(Problem::Parse("dot-tanh:bf16:forward:8x16x32")), "");
  MatrixPeers peers("sh", "-c", 1, {});
  EXPECT_TRUE(peers
                  .Race(
                      "", [] { return 1.0; }, 1, 0)
                  .empty());
}

TEST(MatrixPeers, APythonThatIsMissing) {
  MatrixPeers peers("/no/such/python", "peers", 1, {});
  const std::vector<PeerTimes> results = peers.Race(
      MatrixPeers::Training({4, 3}, 2), [] { return 1.0; }, 1, 0);
  ASSERT_FALSE(results.empty());
  for (const PeerTimes& result : results) {
    EXPECT_NE(result.reason.find("/no/such/python does not start"), std::string::npos) << result.reason;
  }
}

}  // namespace
}  // namespace lamina
