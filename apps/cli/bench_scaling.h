// The subcommand "scaling" of lamina bench.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds itself; returns what runs it.
std::function<int()> AddBenchScaling(CLI::App& bench);

}  // namespace lamina::cli
