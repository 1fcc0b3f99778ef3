// One number's scaling and its inverse, in C: ColumnScaling of data/encode/fitted_column.h.
#pragma once

#include <string>

#include "lamina/data/encode/fitted_column.h"
#include "lamina/model/c_source/c_writer.h"

namespace lamina {

/// The curve of (v - offset) / scale, of which `offset` and `scale` are expressions; what it calls is added to `out`.
std::string CurveInC(CWriter& out, Curve curve, const std::string& v, const std::string& offset,
                     const std::string& scale);
/// ColumnScaling::Encode() and Decode() of a double, by its name; what they call is added to `out`.
std::string EncodedInC(CWriter& out, const ColumnScaling& scaling, const std::string& v);
std::string DecodedInC(CWriter& out, const ColumnScaling& scaling, const std::string& y);

}  // namespace lamina
