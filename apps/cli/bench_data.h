// lamina bench data.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds the subcommand to `bench`; returns what runs it.
std::function<int()> AddBenchData(CLI::App& bench);

}  // namespace lamina::cli
