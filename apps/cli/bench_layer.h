// lamina bench layer.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace lamina::cli {

/// Adds "layer" to `bench` and returns what runs it.
std::function<int()> AddBenchLayer(CLI::App& bench);

/// --kernel of the benchmarks: BackendOptions::kernel.
void AddKernelFlag(CLI::App& app, std::string& kernel);

}  // namespace lamina::cli
