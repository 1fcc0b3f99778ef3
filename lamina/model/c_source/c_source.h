// A model as C99: one .c and one .h that turn raw rows into answers, without memory of their own and any library but
// libm. How it is laid out: docs/decisions/0060-c-source.md.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/files/table.h"
#include "lamina/model/model.h"

namespace lamina {

struct CSourceOptions {
  std::string name;             // of the files, and what every name in them begins with: RequireCName()
  const Table* rows = nullptr;  // of the self-test, as ReadTableFor() gives them; null: rows that are made up
};

struct CSource {
  std::string header;  // NAME.h
  std::string source;  // NAME.c
};

/// Any model that answers, in 8-bit integers where Model::int8 is set (to the bit), else to the bounds of the
/// self-test. Throws Error(kInvalidArgument) for the name, and Error(kUnsupported) with the reason for what C cannot
/// say: a user's own activation, parameters that are not finite.
CSource ToCSource(const Model& model, const CSourceOptions& options);

/// Writes both into `folder`, each whole or not at all; returns their paths. Throws as ToCSource(),
/// RequireOutputFolder() and ClaimNames() (base/output_folder.h).
std::vector<std::string> WriteCSource(const Model& model, const CSourceOptions& options, const std::string& folder);

/// How far an answer in C may be from the program's, times 1 + its size (and for regression the target's scale).
inline constexpr double kCSourceBoundF32 = 5e-5;
inline constexpr double kCSourceBoundF64 = 1e-9;

}  // namespace lamina
