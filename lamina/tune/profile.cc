// Reading, writing and asking the profile of a device.
#include "lamina/tune/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "lamina/backend/backends.h"
#include "lamina/backend/cpu/instruction_sets.h"
#include "lamina/base/checksum.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/platform/process.h"

namespace lamina {
namespace {

constexpr std::string_view kKind = "lamina tuning profile ";
constexpr std::string_view kFirstLine = "lamina tuning profile 1";
constexpr std::string_view kChecksum = "checksum: ";  // the last line; files of earlier versions have none
constexpr int kKernelSet = 1;  // counted up when kernels change so that stored plans mean something else

// Plans do not depend on the activation, the bias or a radius.
Problem KeyOf(Problem problem) {
  problem.layer.activation = Activation();
  problem.layer.bias = !IsDistance(problem.layer.synapse);
  problem.layer.trained_radius = false;
  return problem;
}

bool SameKind(const Problem& a, const Problem& b) {
  return a.layer.synapse == b.layer.synapse && a.dtype == b.dtype && a.precision == b.precision && a.pass == b.pass;
}

double Octaves(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(std::max<int64_t>(1, a))) -
                  std::log2(static_cast<double>(std::max<int64_t>(1, b))));
}

// The sum of distances between sizes where all are within a factor of 2, else infinity.
double Distance(const Problem& a, const Problem& b) {
  const double batch = Octaves(a.batch, b.batch);
  const double outputs = Octaves(a.layer.outputs, b.layer.outputs);
  const double inputs = Octaves(a.layer.inputs, b.layer.inputs);
  return std::max({batch, outputs, inputs}) > 1.0 ? INFINITY : batch + outputs + inputs;
}

// The part of a plan that is good at other sizes, too.
Plan CommonPart(Plan plan) {
  plan.kernel.clear();
  plan.threads = 0;
  plan.asymmetry = 0;
  return plan;
}

[[noreturn]] void ThrowBad(const std::string& source, int64_t line, const std::string& what, std::string_view value) {
  throw Error(ErrorCode::kBadData, what,
              {.file = source, .line = line, .value = std::string(value), .remedy = "Run lamina tune again."});
}

ProfileEntry ParseEntry(std::string_view text, const std::string& source, int64_t line) {
  const std::vector<std::string_view> parts = SplitText(text, '|');
  if (parts.size() != 3) {
    ThrowBad(source, line, "not an entry of a tuning profile", text);
  }
  ProfileEntry entry;
  try {
    entry.problem = KeyOf(Problem::Parse(Trim(parts[0])));
    entry.plan = Plan::Parse(Trim(parts[1]));
  } catch (const Error& error) {
    ThrowBad(source, line, error.message(), text);
  }
  entry.gain = ParseNumber(Trim(parts[2]));
  if (!(entry.gain > 0)) {
    ThrowBad(source, line, "not a gain", text);
  }
  return entry;
}

}  // namespace

Profile::Profile(const Backend& backend) {
  const HardwareInfo info = QueryHardware();
  header_ = {fmt::format("kernels: {}", kKernelSet), fmt::format("device: {}", info.cpu_name),
             fmt::format("backend: {}", backend.Describe())};
}

Plan Profile::PlanFor(const Problem& problem) const {
  const ProfileEntry* nearest = nullptr;
  double least = INFINITY;
  std::map<std::string, int> votes;
  int kind = 0;
  for (const ProfileEntry& entry : entries_) {
    if (!SameKind(entry.problem, problem)) {
      continue;
    }
    ++kind;
    ++votes[CommonPart(entry.plan).Text()];
    if (const double distance = Distance(entry.problem, problem); distance < least) {
      least = distance;
      nearest = &entry;
    }
  }
  if (nearest != nullptr) {
    return nearest->plan;
  }
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most != votes.end() && 2 * most->second > kind ? Plan::Parse(most->first) : Plan();
}

void Profile::Add(ProfileEntry entry) {
  entry.problem = KeyOf(entry.problem);
  const auto [place, added] = places_.try_emplace(entry.problem.Text(), entries_.size());
  if (added) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[place->second] = std::move(entry);
  }
}

std::string Profile::Text() const {
  std::string text = std::string(kFirstLine) + "\n";
  for (const std::string& line : header_) {
    text += line + "\n";
  }
  for (const ProfileEntry& entry : entries_) {
    text += fmt::format("{} | {} | {:.3f}\n", entry.problem.Text(), entry.plan.Text(), entry.gain);
  }
  return text + fmt::format("{}{}\n", kChecksum, ChecksumOf(text));
}

void Profile::Merge(const std::string& text, const std::string& source) {
  std::vector<std::string_view> lines = SplitText(text, '\n');
  if (lines.empty() || lines[0] != kFirstLine) {
    ThrowBad(source, 1, "not a tuning profile of this version of lamina", lines.empty() ? "" : lines[0].substr(0, 80));
  }
  for (size_t i = 0; i < header_.size(); ++i) {
    if (i + 1 >= lines.size() || lines[i + 1] != header_[i]) {
      ThrowBad(source, static_cast<int64_t>(i) + 2, fmt::format("a profile of another device: here '{}'", header_[i]),
               i + 1 < lines.size() ? lines[i + 1].substr(0, 200) : "");
    }
  }
  if (!lines.back().empty()) {
    ThrowBad(source, static_cast<int64_t>(lines.size()), "the last line is cut off", lines.back());
  }
  if (const std::string_view last = lines.size() < 2 ? "" : lines[lines.size() - 2]; last.starts_with(kChecksum)) {
    const auto end = static_cast<size_t>(last.data() - text.data());
    if (last.substr(kChecksum.size()) != ChecksumOf(std::string_view(text).substr(0, end))) {
      ThrowBad(source, static_cast<int64_t>(lines.size()) - 1, "damaged: the content does not fit its checksum", last);
    }
    lines.erase(lines.end() - 2);
  }
  std::vector<ProfileEntry> read;
  for (size_t i = header_.size() + 1; i + 1 < lines.size(); ++i) {
    read.push_back(ParseEntry(lines[i], source, static_cast<int64_t>(i) + 1));
  }
  for (ProfileEntry& entry : read) {
    Add(std::move(entry));
  }
}

void Profile::Save(const std::string& path) const {
  RequireWritable(path);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  RequireProfile(path);
  WriteFileAtomically(path, Text());
}

void Profile::RequireWritable(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(path);
  std::filesystem::path folder = file.parent_path();
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();  // those that are to be made in it
  }
  if (!std::filesystem::is_directory(folder, error)) {
    throw Error(ErrorCode::kIo, "is no folder: cannot make the folder of the plans below it",
                {.file = folder.string(), .remedy = "Set XDG_CACHE_HOME to a folder that can be written into."});
  }
  RequireWritableTarget((folder / file.filename()).string());
}

void RequireProfile(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::symlink_status(path, failed);
  const bool there = std::filesystem::exists(status);
  if (there && (status.type() != std::filesystem::file_type::regular || !ReadFile(path).starts_with(kKind))) {
    throw Error(ErrorCode::kIo, "is there and is no tuning profile, which would replace it",
                {.file = path, .remedy = "Move it."});
  }
}

std::string ProfilePath(const Backend& backend) {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  std::filesystem::path folder(cache == nullptr ? "" : cache);
  if (!folder.has_root_directory()) {  // relative ones are to be ignored, says the specification
    folder = platform::FolderOfCaches();
  }
  if (folder.empty()) {
    return "";
  }
  std::string device;
  for (const char c : QueryHardware().cpu_name) {
    device += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  }
  if (const std::string restriction = cpu::ApplyInstructionSets().Restriction(); !restriction.empty()) {
    device += "-" + restriction;
  }
  return (folder / "lamina" / fmt::format("{}-{}-{}.profile", backend.name(), device, backend.threads())).string();
}

bool TuningIsOff() {
  const char* value = std::getenv("LAMINA_TUNE");
  return value != nullptr && std::string_view(value) == "off";
}

StoredProfile LoadStoredProfile(const Backend& backend) {
  const std::string path = TuningIsOff() ? "" : ProfilePath(backend);
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) {
    return {};
  }
  auto profile = std::make_shared<Profile>(backend);
  try {
    profile->Merge(ReadFile(path), path);
  } catch (const Error& failure) {
    return {nullptr, fmt::format("the tuning profile is ignored: {}", failure.what())};
  }
  return {std::move(profile), ""};
}

std::unique_ptr<Backend> MakeTunedBackend(std::string_view name, const BackendOptions& options, std::string* warning) {
  std::unique_ptr<Backend> backend = MakeBackend(name, options);
  StoredProfile stored = LoadStoredProfile(*backend);
  if (warning != nullptr) {
    *warning = stored.warning;
  }
  if (stored.profile == nullptr || stored.profile->entries().empty()) {
    return backend;
  }
  BackendOptions with_plans = options;
  with_plans.plans = std::move(stored.profile);
  return MakeBackend(backend->name(), with_plans);
}

}  // namespace lamina
