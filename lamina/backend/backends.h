// The table of backends, and the choice among them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"

namespace lamina {

/// One row of the table, in priority order for "auto".
struct BackendRow {
  std::string_view name;
  std::string_view summary;
  /// Whether it can be used in this build on this machine; the reason otherwise.
  Verdict (*available)();
  std::unique_ptr<Backend> (*make)(const BackendOptions&);
};

std::span<const BackendRow> BackendTable();

/// The backend called `name`; "auto" is the first available row. Throws Error(kInvalidArgument) for an unknown name,
/// Error(kUnsupported) with the reason for one that is not available.
std::unique_ptr<Backend> MakeBackend(std::string_view name, const BackendOptions& options = {});

}  // namespace lamina
