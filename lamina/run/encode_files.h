// The files of encoded data. Private to encoded_data.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "lamina/cluster/shards.h"
#include "lamina/data/encode/bound_table.h"

namespace lamina {

/// The usable ones of `rows`, encoded in their order into FOLDER/PART_inputs.npy, PART_targets.npy and, as far as they
/// are there, PART_labels.npy and PART_baseline.npy: `piece_rows` at a time, in the order of the table, with a stop
/// point behind each. What comes back is mapped from them. Throws Error.
Dataset EncodeIntoFiles(const BoundTable& table, std::span<const int64_t> rows, DType dtype, EncodeReport* report,
                        const std::string& folder, const std::string& part, int64_t piece_rows);
/// FOLDER/PART_weights.npy, where the rows have weights.
void WriteSampleWeights(const Dataset& data, const std::string& folder, const std::string& part);

/// Whether `name` is that of a file which these functions make of the part.
bool IsFileOfPart(std::string_view name, std::string_view part);
/// Names, sizes and checksums of the part's files, whole and by pieces. Throws Error(kIo).
nlohmann::json DescribeFiles(const std::string& folder, const std::string& part);
/// Which of a part's rows are wanted.
using ChooseRows = std::function<IndexRange(int64_t rows)>;
/// Maps what DescribeFiles() said, the rows that `choose` says (empty: all); only their pieces of the files are read.
/// Throws Error(kBadData) where they, or the size of a file, are not as they were.
Dataset OpenFiles(const nlohmann::json& description, const std::string& folder, const std::string& part,
                  const ChooseRows& choose = {});

}  // namespace lamina
