// Help texts that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace lamina::cli {

/// CLI11's layout with wrapped descriptions and plain names of switches.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace lamina::cli
