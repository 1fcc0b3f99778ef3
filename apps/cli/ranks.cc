// Joining, leaving, and errors that one rank says for all.
#include "ranks.h"
#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <thread>

#include "help.h"
#include "lamina/base/text.h"
#include "lamina/cluster/mpi.h"

namespace lamina::cli {
namespace {

constexpr double kWaitForErrors_seconds = 2;   // of other ranks, which have mostly come to the same one
constexpr double kWaitForLower_seconds = 0.5;  // a rank: where several see that one is silent, the lowest says it
constexpr int kStaggered = 20;
constexpr std::chrono::milliseconds kToBeRead{500};  // what was said: launchers end without reading on
constexpr std::chrono::seconds kWaitForLauncher{3};  // which ends this process where the first rank has the same error

std::unique_ptr<Communicator>& Joined() {
  static std::unique_ptr<Communicator> ranks;
  return ranks;
}
bool ends_alone = false;  // an error that others do not have: they are waiting

// Whether there are other ranks, joined or about to.
bool IsOneOfSeveral() {
  if (Joined() != nullptr) {
    return Joined()->size() > 1;
  }
  const Launcher launcher = SeenLauncher();
  return !launcher.mpi.empty() && launcher.size != 1;
}

}  // namespace

void RankFlags::AddTo(CLI::App& app) {
  app.add_option(
         "--mpi", mpi,
         fmt::format("Run as a rank of an MPI job: {} (auto: where mpirun or srun started it), or the file of a "
                     "plug-in",
                     fmt::join(MpiNames(), ", ")))
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kComputersGroup);
  app.add_option("--rank-timeout", timeout_seconds, "Seconds after which a rank that others wait for ends the job")
      ->type_name("SECONDS")
      ->check(CheckFinite)
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->group(kComputersGroup);
}

Communicator* JoinRanks(const RankFlags& flags) {
  if (Joined() == nullptr) {
    Joined() = JoinMpi(flags.mpi);
    if (Joined() != nullptr) {
      Joined()->set_patience_seconds(flags.timeout_seconds);
    }
  }
  return Joined().get();
}

Communicator* JoinedRanks() { return Joined().get(); }

void LeaveRanks() { Joined().reset(); }

bool SpeaksForAll() { return Joined() != nullptr ? Joined()->is_first() : SeenLauncher().rank == 0; }

void LetFirstSpeak() { std::this_thread::sleep_for(kWaitForLauncher); }

std::string ErrorOfRanks(const std::string& message) {
  Communicator* ranks = Joined().get();
  if (const int rank = SeenLauncher().rank; ranks == nullptr && rank > 0) {
    LetFirstSpeak();
    return fmt::format("rank {}: {}", rank, message);
  }
  if (ranks == nullptr || ranks->size() == 1) {
    return message;
  }
  if (ranks->AllFailed(kWaitForErrors_seconds + kWaitForLower_seconds * std::min(ranks->rank(), kStaggered))) {
    return ranks->is_first() ? message : "";
  }
  ends_alone = true;
  const std::string name = ranks->NameOf(ranks->rank());
  if (message.find(name) != std::string::npos) {
    return message;
  }
  const std::string place = ranks->Place();
  return fmt::format("{}{}: {}", name, place.empty() ? "" : " " + place, message);
}

void EndRanks(int exit_code) {
  if (IsOneOfSeveral()) {
    std::this_thread::sleep_for(kToBeRead);
  }
  if (ends_alone) {
    Joined()->Abort(exit_code);
  }
}

nlohmann::json RanksJson() {
  const Communicator* ranks = Joined().get();
  if (ranks == nullptr) {
    return nullptr;
  }
  std::set<std::string> hosts;
  for (int r = 0; r < ranks->size(); ++r) {
    hosts.insert(ranks->host(r));
  }
  return {{"ranks", ranks->size()}, {"by", ranks->Describe()}, {"hosts", hosts}};
}

}  // namespace lamina::cli
