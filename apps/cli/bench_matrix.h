// lamina bench matrix.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds the subcommand; what runs it comes back.
std::function<int()> AddBenchMatrix(CLI::App& bench);

}  // namespace lamina::cli
