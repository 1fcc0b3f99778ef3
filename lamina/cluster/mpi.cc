// Opens the plug-in and talks through it.
#include "lamina/cluster/mpi.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/opened_library.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/cluster/mpi_plugin.h"
#include "lamina/platform/shared_library.h"
#include "lamina/platform/thread.h"

namespace lamina {
namespace {

constexpr const char* kPluginVariable = "LAMINA_MPI_PLUGIN";

// Variables that launchers set for every process, in the order they are looked at. Slurm's own say nothing of MPI: srun
// sets those of PMI or PMIx as well where it starts a job of MPI.
struct LauncherRow {
  const char* variable;
  const char* size_variable;  // null: it does not say
  const char* mpi;
};
constexpr LauncherRow kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"},
                                      {"PMI_RANK", "PMI_SIZE", "mpich"},
                                      {"PMIX_RANK", nullptr, "openmpi"}};

class MpiRank : public Communicator {
 public:
  explicit MpiRank(const LaminaMpi& mpi) : mpi_(mpi) {
    int rank = 0;
    int size = 0;
    if (mpi_.join(&rank, &size) != 0) {
      throw Error(ErrorCode::kUnsupported, fmt::format("cannot join the MPI job: {}", mpi_.error()));
    }
    Introduce(rank, size, HostName());
  }
  ~MpiRank() override { mpi_.leave(); }

  std::string Describe() const override { return mpi_.library(); }
  bool AnyThread() const override { return mpi_.any_thread() != 0; }
  bool OnOneHost() const override {
    for (int r = 1; r < size(); ++r) {
      if (host(r) != host(0)) {
        return false;
      }
    }
    return true;
  }
  bool AllFailed(double seconds) noexcept override { return mpi_.meet(seconds) == 1; }
  void Abort(int exit_code) noexcept override { mpi_.abort(exit_code); }

 protected:
  void Exchange(std::span<const SentPart> to, std::span<const ReceivedPart> from) override {
    std::vector<LaminaMpiPart> sent;
    std::vector<LaminaMpiPart> received;
    for (size_t r = 0; r < to.size(); ++r) {
      sent.push_back({const_cast<void*>(to[r].data), to[r].size_bytes});
      received.push_back({from[r].data, from[r].size_bytes});
    }
    void* exchange = mpi_.start(sent.data(), received.data());
    if (exchange == nullptr) {
      ThrowLost();
    }
    const Stopwatch watch;
    constexpr int kTestsBetweenYields = 100;  // a rank that waits must not keep one that computes from its core
    constexpr std::chrono::microseconds kAside{50};
    for (int tests = 1;; ++tests) {
      const int done = mpi_.test(exchange, nullptr);
      if (done == 1) {
        break;
      }
      if (done < 0) {
        ThrowLost();
      }
      const bool aside = is_aside();
      if (aside) {
        std::this_thread::sleep_for(kAside);
      }
      if (aside || tests % kTestsBetweenYields == 0) {
        platform::LetOthersRun();
        ThrowIfCancelled();
        if (watch.Elapsed_seconds() > patience_seconds()) {
          ThrowMissing(exchange);
        }
      }
    }
    mpi_.release(exchange);
  }

 private:
  [[noreturn]] void ThrowLost() const {
    throw Error(ErrorCode::kIo, fmt::format("{} lost the others{}{}: {}", NameOf(rank()), Place().empty() ? "" : " ",
                                            Place(), mpi_.error()));
  }
  // What is under way uses the caller's memory: the job can only be aborted.
  [[noreturn]] void ThrowMissing(void* exchange) const {
    std::string missing(static_cast<size_t>(size()), '\0');
    mpi_.test(exchange, missing.data());
    const size_t first = missing.find('\1');
    ThrowSilent(first == std::string::npos ? rank() : static_cast<int>(first));
  }

  const LaminaMpi& mpi_;
};

std::vector<std::string> PlacesOf(std::string_view mpi) {
  if (const char* path = std::getenv(kPluginVariable); path != nullptr && *path != '\0') {
    return {path};
  }
  if (mpi.find('/') != std::string_view::npos || mpi.ends_with(".so")) {
    return {std::string(mpi)};
  }
  return PluginPlaces(fmt::format("lamina_mpi_{}", mpi));
}

const LaminaMpi& OpenPlugin(std::string_view mpi, const std::string& why) {
  if (const std::string reason = platform::WhyNoLibraries(); !reason.empty()) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{}, and {}", why, reason));
  }
  const std::vector<std::string> places = PlacesOf(mpi);
  for (const std::string& path : places) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      continue;
    }
    // Parts of some MPI libraries look for the others among the global names.
    std::string failure;
    void* library = platform::OpenLibrary(path.c_str(), /*for_others=*/true, failure);
    if (library == nullptr) {
      throw Error(ErrorCode::kUnsupported, fmt::format("cannot open the plug-in for MPI: {}", failure),
                  {.file = path, .remedy = "Is that MPI installed on this host?"});
    }
    const auto functions =
        reinterpret_cast<decltype(&LaminaMpiFunctions)>(platform::AddressIn(library, "LaminaMpiFunctions"));
    if (functions == nullptr || functions()->interface_version != kLaminaMpiInterface) {
      throw Error(ErrorCode::kUnsupported, "is no plug-in of this lamina", {.file = path});
    }
    return *functions();
  }
  throw Error(
      ErrorCode::kNotFound, fmt::format("{}, and the plug-in for it is not there", why),
      {.file = places.empty() ? "" : places.back(),
       .remedy = "Build lamina where that MPI is (docs/cluster.md), name the plug-in in LAMINA_MPI_PLUGIN, or use "
                 "--mpi off for a process that is alone."});
}

}  // namespace

Launcher SeenLauncher() {
  for (const LauncherRow& row : kLaunchers) {
    if (std::getenv(row.variable) == nullptr) {
      continue;
    }
    Launcher seen;
    seen.mpi = row.mpi;
    seen.rank = static_cast<int>(ParseInteger(std::getenv(row.variable)).value_or(0));
    const char* size = row.size_variable == nullptr ? nullptr : std::getenv(row.size_variable);
    seen.size = static_cast<int>(size == nullptr ? 0 : ParseInteger(size).value_or(0));
    seen.variables = size == nullptr ? row.variable : fmt::format("{}={}", row.size_variable, size);
    return seen;
  }
  return {};
}

std::vector<std::string> MpiNames() { return {"auto", "off", "openmpi", "mpich"}; }

std::unique_ptr<Communicator> JoinMpi(std::string_view mpi) {
  if (mpi == "off") {
    return nullptr;
  }
  std::string why = fmt::format("--mpi {} was asked for", mpi);
  const Launcher launcher = SeenLauncher();
  if (mpi == "auto") {
    if (const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
        launcher.mpi.empty() && tasks != nullptr && ParseInteger(tasks).value_or(1) > 1) {
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("srun started {} processes without MPI, which would all do the same", tasks),
          {.remedy = "Use srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH), or --mpi off for processes that are "
                     "to be alone."});
    }
    if (launcher.mpi.empty() || launcher.size == 1) {
      return nullptr;
    }
    mpi = launcher.mpi;
    why = fmt::format("a launcher of MPI started this process as one of several ({})", launcher.variables);
  }
  return std::make_unique<MpiRank>(OpenPlugin(mpi, why));
}

}  // namespace lamina
