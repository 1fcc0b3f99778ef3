// The table of backends, and the choice among them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/backend/gpu_info.h"

namespace lamina {

/// One row of the table, in priority order for "auto".
struct BackendRow {
  std::string_view name;
  std::string_view summary;
  /// Whether it can be used in this build on this machine; the reason otherwise.
  Verdict (*available)();
  /// Whether its products of f32 can have bf16 operands; null: it has no such.
  Verdict (*rounds)();
  std::unique_ptr<Backend> (*make)(const BackendOptions&);

  /// Whether dot layers of `dtype` can be trained so: what its Supports() says, without a backend made to be asked.
  Verdict TrainsIn(DType dtype, Precision precision) const;
};

std::span<const BackendRow> BackendTable();
/// What a backend can be chosen by: "auto", then those of the table, usable here or not.
std::vector<std::string> BackendNames();
/// The same as a help text: "auto, cuda, cpu or serial".
const std::string& BackendNamesText();

/// The one that backend cuda uses; empty where that is not available.
std::vector<GpuInfo> UsableGpus();

/// What `name` means for training a network. "auto" is `cpu` where `cpu` computes whole steps at once, faster than a
/// GPU starts one kernel. Otherwise it is the first available row. Other names are themselves.
std::string_view BackendForTraining(std::string_view name, std::span<const LayerSpec> layers, int64_t batch,
                                    DType dtype, int state_count);

/// The row called `name`; "auto" is the first available one. Throws as MakeBackend.
const BackendRow& FindBackend(std::string_view name);

/// The backend called `name`; "auto" is the first available row. Throws Error(kInvalidArgument) for an unknown name,
/// Error(kUnsupported) with the reason for one that is not available.
std::unique_ptr<Backend> MakeBackend(std::string_view name, const BackendOptions& options = {});

}  // namespace lamina
