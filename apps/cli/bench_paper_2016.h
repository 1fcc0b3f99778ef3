// lamina bench paper-2016.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds the subcommand to `bench`; what it returns runs it.
std::function<int()> AddBenchPaper2016(CLI::App& bench);

}  // namespace lamina::cli
