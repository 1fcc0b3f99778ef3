// Help texts that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace lamina::cli {

/// CLI11's layout with wrapped descriptions and plain names of switches, in the order of a person's work: settings, the
/// command's own options, several computers. What CLI11 calls the normal help is the short one: flags that have a short
/// text, or all where a command has none. "all" is the whole help.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

/// The title of the flags for several processes and computers, which come last.
inline constexpr const char* kComputersGroup = "Several computers";

/// What helps know of a flag beside its text.
struct FlagFacts {
  std::string in_short;              // its text in the short help; empty: not there
  std::vector<std::string> choices;  // what completions offer as its value
};
void Describe(const CLI::Option* option, FlagFacts facts);

/// "train --recipe auto plain tabular": a line for each flag of `app` and its commands that has choices.
std::string ChoicesText(const CLI::App& app);

}  // namespace lamina::cli
