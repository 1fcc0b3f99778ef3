// What the ranks of a command over .npy files must have in common.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/setting.h"
#include "lamina/cluster/communicator.h"
#include "lamina/data/files/npy_matrix.h"

namespace lamina {

/// Throws Error(kInvalidArgument) on all ranks unless all have the same version, backend, settings (but threads) and
/// files. Files are compared by shapes, types, and bytes of rows spread over them. Collective.
void RequireSameFiles(Communicator& ranks, const Backend& backend, const std::string& settings,
                      const std::vector<NpyMatrix*>& files);

template <class S>
void RequireSameFiles(Communicator& ranks, const Backend& backend, const S& settings,
                      const std::vector<NpyMatrix*>& files) {
  std::string text;
  VisitSettings(settings, [&](const auto& row, const auto& field) {
    text += row.name == "threads" ? "" : fmt::format("--{} {}\n", row.name, FieldText(&field));
  });
  RequireSameFiles(ranks, backend, text, files);
}

}  // namespace lamina
