// POST /predict: rows as JSON or CSV; and MLflow's POST /invocations.
#pragma once

#include "lamina/serve/job.h"

namespace lamina::serve {

/// `job` has its model; gets rows and how they are answered. Throws Error for a request that cannot be.
void ReadPredict(const Request& request, DriftCounts* drift, Job& job);
void ReadInvocations(const Request& request, DriftCounts* drift, Job& job);

/// {"error_code":, "message":}, as MLflow says it.
Response InvocationsRefusal(int status, std::string_view words);

}  // namespace lamina::serve
