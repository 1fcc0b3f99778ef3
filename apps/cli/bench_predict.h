// lamina bench predict.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds "predict" to `bench` and returns what runs it.
std::function<int()> AddBenchPredict(CLI::App& bench);

}  // namespace lamina::cli
