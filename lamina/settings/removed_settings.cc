// One row for each.
#include "lamina/settings/removed_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr RemovedSetting kRemoved[] = {
    {"sync-steps", "", "models depended on the number of ranks and erred more",
     "Leave it out: one process is as fast, and --gradients bf16 halves what ranks send."},
    {"number-embedding", "periodic", "no table was answered better with it than without",
     "Use --number-embedding pbld, or none."},
    {"stragglers", "", "no cluster confirmed the simulation",
     "Leave it out: the performance model of bench scaling is what was left."},
};

}  // namespace

std::string RemovedSetting::Text() const {
  return fmt::format("--{}{}{} was removed: {}", name, value.empty() ? "" : " ", value, why);
}

std::span<const RemovedSetting> RemovedSettings() { return kRemoved; }

const RemovedSetting* FindRemoved(std::string_view name, std::string_view value) {
  const auto* const found = std::find_if(std::begin(kRemoved), std::end(kRemoved), [&](const RemovedSetting& row) {
    return row.name == name && row.value == value;
  });
  return found == std::end(kRemoved) ? nullptr : found;
}

std::vector<const RemovedSetting*> RemovedIn(const nlohmann::json& settings) {
  std::vector<const RemovedSetting*> found;
  for (const RemovedSetting& row : kRemoved) {
    const auto stored = settings.find(row.name);
    if (stored != settings.end() && (row.value.empty() ? stored->is_number() && *stored != 0 : *stored == row.value)) {
      found.push_back(&row);
    }
  }
  return found;
}

void RefuseRemoved(const nlohmann::json& settings, const std::string& file) {
  for (const RemovedSetting* row : RemovedIn(settings)) {
    throw Error(ErrorCode::kBadModel, fmt::format("its run was trained with what is gone; {}", row->Text()),
                {.file = file,
                 .value = settings.at(row->name).dump(),
                 .remedy = "Train anew, or go on with the lamina that wrote it.",
                 .setting = std::string(row->name)});
  }
}

}  // namespace lamina
