// Readers of texts in files: settings, tuning profiles, searches.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "apps/cli/config.h"
#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/search/search_space.h"
#include "lamina/search/search_state.h"
#include "lamina/tune/profile.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

template <class Settings>
void ReadSettings(std::string_view content) {
  const MemoryFile file(content);
  Settings settings;
  cli::SaidByFiles said;
  if (!Accepts(file.path(), [&] { cli::ReadConfigFile(file.path(), settings, said); })) {
    return;
  }
  const std::string written = cli::WriteConfig(settings);
  const MemoryFile copy(written);
  Settings again;
  cli::ReadConfigFile(copy.path(), again, said);
  Demand(cli::WriteConfig(again) == written, "other settings when read again");
}

void FuzzSettings(std::string_view input) {
  Bytes bytes(input);
  switch (bytes.Byte() % 3) {
    case 0: return ReadSettings<TrainSettings>(bytes.Rest());
    case 1: return ReadSettings<FileLayerSettings>(bytes.Rest());
    default: return ReadSettings<SearchSettings>(bytes.Rest());
  }
}

// First byte even: a profile's text. Odd: the entries under this device's header.
void FuzzProfile(std::string_view input) {
  static const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = 1});
  static const Profile empty(*backend);
  Bytes bytes(input);
  const bool whole = bytes.Byte() % 2 == 0;
  const std::string above = fmt::format("lamina tuning profile 1\n{}\n", fmt::join(empty.header(), "\n"));
  const std::string text = (whole ? "" : above) + std::string(bytes.Rest());
  Profile profile = empty;
  if (!Accepts("input.profile", [&] { profile.Merge(text, "input.profile"); })) {
    Demand(profile.entries().empty(), "a refused profile left entries");
    return;
  }
  Profile again = empty;
  again.Merge(profile.Text(), "input.profile");
  Demand(again.Text() == profile.Text(), "another profile when read again");
  for (const ProfileEntry& entry : profile.entries()) {
    profile.PlanFor(entry.problem);
  }
}

// First byte even: entries of --vary, a line each. Odd: a file of the folder of --state.
void FuzzSearch(std::string_view input) {
  Bytes bytes(input);
  if (bytes.Byte() % 2 == 1) {
    StoredSearch stored;
    if (Accepts("st/search.json", [&] { stored = ParseStored(bytes.Rest(), "st/search.json"); })) {
      const std::string written = StoredText(stored);
      Demand(StoredText(ParseStored(written, "st/search.json")) == written, "another search when read again");
      for (const bool keeps_best : {false, true}) {
        const std::vector<size_t> ranking = RankTrials(stored.trials, bytes.Rest().size() % 2 == 0, keeps_best);
        Demand(ranking.size() == stored.trials.size(), "a ranking of other trials");
      }
    }
    return;
  }
  Accepts("", [&] {
    const SearchSpace space(Lines(bytes.Rest()));
    const TrainSettings base;
    for (const std::vector<std::string>& point : space.RandomPoints(3, 1)) {
      Demand(point.size() == space.parameters().size(), "a point of another dimension");
      Accepts("", [&] { space.Apply(base, point); });
    }
    const int64_t size = space.GridSize();
    Demand(size > 0, "an empty grid");
    for (const int64_t at : {int64_t{0}, size / 2, size - 1}) {
      Demand(space.GridPoint(at).size() == space.parameters().size(), "a point of another dimension");
    }
  });
}

const RegisteredTargets text_targets{{"settings", &FuzzSettings}, {"profile", &FuzzProfile}, {"search", &FuzzSearch}};

}  // namespace
}  // namespace lamina::fuzz
