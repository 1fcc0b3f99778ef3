// What a teacher says of training rows (another model, a person), learnt in the place of their targets.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/encode/target_encoder.h"
#include "lamina/data/files/table.h"

namespace lamina {

/// The setting that names the columns.
inline constexpr std::string_view kSoftTargetSetting = "soft-target";

/// The columns of `table` called `names`, or numbered by them. Classes have one each, in the order of the classes; its
/// name is the class or ends in it behind a sign ("p_setosa"). Numbers have one for each target, as given. Throws Error
/// naming a class without its column, a column of no class, text.
std::vector<const Column*> SoftTargetColumns(const Table& table, const TargetEncoder& targets,
                                             std::span<const std::string> names);

/// Makes them the targets of the encoded training rows `train`, whose labels stay. Probabilities of a row are divided
/// by their sum. Throws Error naming file, line and value for a missing one, one below 0, or a sum that is not 1.
void LearnSoftTargets(const Table& table, const TargetEncoder& targets, std::span<const std::string> names,
                      Dataset& train);

/// The same of numbers that are no columns of a table: rows × classes, or rows × targets in units of the target.
/// Throws Error naming the row.
void LearnSoftTargets(const Matrix& soft, const TargetEncoder& targets, Dataset& train);

}  // namespace lamina
