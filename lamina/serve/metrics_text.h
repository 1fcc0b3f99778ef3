// Counts as Prometheus reads them (text format 0.0.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lamina/serve/model_set.h"
#include "lamina/serve/worker.h"

namespace lamina::serve {

std::string MetricsText(const ModelSet& models, std::span<const Worker* const> workers, int64_t lost_lines);

}  // namespace lamina::serve
