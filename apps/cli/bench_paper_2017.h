// lamina bench paper-2017.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds the subcommand; what runs it comes back.
std::function<int()> AddBenchPaper2017(CLI::App& bench);

}  // namespace lamina::cli
