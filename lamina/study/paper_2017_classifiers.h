// What the layers of the 2017 paper are for: the classifiers of its authors, timed in its unit.
#pragma once

#include <cstdint>
#include <functional>

#include "lamina/backend/backend.h"
#include "lamina/report/report_writer.h"

namespace lamina {

/// A table "classifiers": FSVC, SFSVC and an extreme learning machine on `rows` random rows of `inputs` numbers in
/// clusters, and a fifth as many to answer. Seconds to train and to answer, and the time of one synapse: seconds /
/// (rows × hidden neurons × inputs). Fewer methods where stop_requested() said so.
ReportTable TimeClassifiers(int64_t rows, int64_t inputs, const Backend& backend,
                            const std::function<bool()>& stop_requested);

}  // namespace lamina
