// lamina bench layer.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds "layer" to `bench` and returns what runs it.
std::function<int()> AddBenchLayer(CLI::App& bench);

}  // namespace lamina::cli
