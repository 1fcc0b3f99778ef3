// lamina bench peak.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds "peak" to `bench` and returns what runs it.
std::function<int()> AddBenchPeak(CLI::App& bench);

}  // namespace lamina::cli
