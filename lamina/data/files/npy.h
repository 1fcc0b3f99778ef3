// NumPy .npy files, versions 1 to 3.
#pragma once

#include <string>
#include <string_view>

#include "lamina/data/files/read_options.h"

namespace lamina {

bool LooksLikeNpy(std::string_view start, std::string_view path);

/// A one- or two-dimensional array as columns c0, c1, ... Any real element type and byte
/// order, C or Fortran order. f4, f8, signed integers and u1 keep their type and are
/// viewed, not copied, where possible. bool becomes u8, f2 becomes f32, larger unsigned
/// integers f64. Throws Error(kBadData) for damaged files, other shapes and other types.
Table ReadNpy(std::string content, const std::string& source, const ReadOptions& options);

}  // namespace lamina
