// lamina bench network: what lies between the ranks of a job.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace lamina::cli {

/// Adds "network" to `bench` and returns what runs it.
std::function<int()> AddBenchNetwork(CLI::App& bench);

}  // namespace lamina::cli
