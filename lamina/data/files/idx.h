// IDX files (the format of MNIST): big-endian header, then a dense array.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lamina/data/files/read_options.h"

namespace lamina {

/// True for content with an IDX magic number, or a path named like an IDX file.
bool LooksLikeIdx(std::string_view start, std::string_view path);

/// An IDX array of 1 to 4 dimensions, the first counting rows: labels (one column "label") or rows of numbers
/// ("c0"...). With 3 dimensions the rows are images of pixels ("p0"...). Bytes stay bytes and are not copied. Throws
/// Error(kBadData) for a wrong magic number or a size that contradicts the header.
Table ReadIdx(std::string content, const std::string& source, const ReadOptions& options);

/// The folder described at ReadData.
ReadResult ReadIdxFolder(const std::string& folder, const ReadOptions& options);
/// Its files, as far as they are there.
std::vector<std::string> IdxFolderFiles(const std::string& folder);

}  // namespace lamina
