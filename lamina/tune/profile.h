// The plans found on one device, kept as one text file and asked while layers are prepared.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina {

/// A problem and the plan that was the fastest for it. `gain`: how many times as fast as the backend's estimate.
struct ProfileEntry {
  Problem problem;
  Plan plan;
  double gain = 1;
};

/// Text: a line "lamina tuning profile 1", "key: value" lines that say for what device it holds, then one line an
/// entry, "problem | plan | gain". Problems have the identity activation: plans do not depend on it.
class Profile final : public PlanSource {
 public:
  /// Empty, for this backend on this machine.
  explicit Profile(const Backend& backend);

  /// The plan of the nearest entry with the same synapse, type, precision and pass whose sizes are all within a factor
  /// of 2. Else the tile and blocks of most such entries; else the backend's estimate.
  Plan PlanFor(const Problem& problem) const override;

  /// Adds an entry in the place of one for the same problem.
  void Add(ProfileEntry entry);
  const std::vector<ProfileEntry>& entries() const { return entries_; }
  const std::vector<std::string>& header() const { return header_; }

  std::string Text() const;
  /// Adds the entries of a profile's text. Throws Error(kBadData) naming the line, or the part of the header that is
  /// another one than here: nothing is added then. `source` is for errors.
  void Merge(const std::string& text, const std::string& source);
  /// Atomic; makes the folder. Throws Error(kIo), also as RequireProfile().
  void Save(const std::string& path) const;
  /// Throws Error(kNotFound | kIo) where Save() could not write there: before plans are measured.
  static void RequireWritable(const std::string& path);

 private:
  std::vector<std::string> header_;
  std::vector<ProfileEntry> entries_;
  std::map<std::string, size_t> places_;  // of entries_, by the text of the problem
};

/// Throws Error(kIo) where something is at `path` that is no tuning profile, of whatever version or state: only one is
/// replaced or removed.
void RequireProfile(const std::string& path);

/// $XDG_CACHE_HOME (else ~/.cache)/lamina/NAME.profile, where NAME tells backend, processor, LAMINA_ISA where it
/// leaves something out, and threads. "" where there is no home.
std::string ProfilePath(const Backend& backend);

/// Whether the environment variable LAMINA_TUNE is "off": stored plans are neither read nor written.
bool TuningIsOff();

/// The stored profile of this backend, or null; a damaged or foreign one is ignored with a warning.
struct StoredProfile {
  std::shared_ptr<const Profile> profile;
  std::string warning;
};
StoredProfile LoadStoredProfile(const Backend& backend);

/// MakeBackend() with the plans stored for it.
std::unique_ptr<Backend> MakeTunedBackend(std::string_view name, const BackendOptions& options = {},
                                          std::string* warning = nullptr);

}  // namespace lamina
