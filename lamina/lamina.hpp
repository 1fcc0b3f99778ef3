// The door for C++ programs: settings, training, models, answers. For single layers, kernels and RBF methods see
// docs/library.md; for C lamina/lamina.h.
#pragma once

#include "lamina/backend/backends.h"     // IWYU pragma: export
#include "lamina/data/files/reader.h"    // IWYU pragma: export
#include "lamina/model/answer.h"         // IWYU pragma: export
#include "lamina/model/predictor.h"      // IWYU pragma: export
#include "lamina/run/remarks.h"          // IWYU pragma: export
#include "lamina/run/session.h"          // IWYU pragma: export
#include "lamina/settings/validation.h"  // IWYU pragma: export
