// lamina bench factor.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds "factor" to `bench` and returns what runs it.
std::function<int()> AddBenchFactor(CLI::App& bench);

}  // namespace lamina::cli
