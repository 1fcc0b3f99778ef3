// Fuzz targets: what reads files and texts from outside, on any bytes. The table is folded over by libFuzzer's programs
// (fuzz_main.cc, scripts/fuzz) and by the test that replays corpus/ and crashes/ (replay_test.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace lamina::fuzz {

/// One reader. `run` returns for every input, accepted or refused with a lamina::Error; everything else that it throws
/// is a finding.
struct FuzzTarget {
  std::string_view name;  // its folder in corpus/ and crashes/, its file in dictionaries/
  void (*run)(std::string_view input);
};
/// Those that are linked, by name.
std::span<const FuzzTarget> FuzzTargets();
/// Null for an unknown name.
const FuzzTarget* FindFuzzTarget(std::string_view name);
/// A variable of each *_target.cc puts its targets into the table.
struct RegisteredTargets {
  RegisteredTargets(std::initializer_list<FuzzTarget> targets);
};

/// An invariant that an input broke.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
/// Throws Broken unless `holds`.
void Demand(bool holds, const std::string& what);

/// Runs `read`, which reads something named `source` (empty: a text without a file). False where it throws an Error:
/// that must name the source and be one line of text without control characters.
bool Accepts(const std::string& source, const std::function<void()>& read);

/// Takes values off the front of an input; zeros after its end.
class Bytes {
 public:
  explicit Bytes(std::string_view input) : rest_(input) {}
  uint8_t Byte();
  /// Less than `below`, from one byte (below 256) or two.
  int64_t Below(int64_t below);
  /// Up to `mark`, which is left out, or the end.
  std::string_view Until(char mark);
  std::string_view Rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The lines of a text, without their ends.
std::vector<std::string> Lines(std::string_view text);

/// A file that is nowhere but in memory, for readers that take a path. The next one is the same file with another
/// content: making one takes longer than most inputs.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace lamina::fuzz
