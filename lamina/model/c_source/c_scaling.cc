// Scaling as expressions of C.
#include "lamina/model/c_source/c_scaling.h"

#include <cmath>

namespace lamina {
std::string CurveInC(CWriter& out, Curve curve, const std::string& v, const std::string& offset,
                     const std::string& scale) {
  std::string y = v;
  if (curve == Curve::kLogarithm) {
    out.AddOnce("/* sign(x) ln(1 + |x|) */\nstatic double @_log(double x) { return copysign(log1p(fabs(x)), x); }\n\n");
    y = fmt::format("@_log({})", v);
  }
  if (offset != CDouble(0)) {
    y = offset[0] == '-' ? fmt::format("({} + {})", y, offset.substr(1)) : fmt::format("({} - {})", y, offset);
  }
  if (scale != CDouble(1)) {
    y = fmt::format("{} / {}", y, scale);
  }
  if (curve == Curve::kSmoothClip) {
    out.AddOnce(
        "/* Near 0 the number itself, never beyond -3 and 3. */\n"
        "static double @_clip(double y) {\n"
        "  return fabs(y) < 1e9 ? y / sqrt(1.0 + (y / 3.0) * (y / 3.0)) : copysign(3.0, y) + (y - y);\n"
        "}\n\n");
    return fmt::format("@_clip({})", y);
  }
  if (curve == Curve::kEquals) {
    return fmt::format("{} == 0.0 ? 1.0 : 0.0", y);
  }
  return curve == Curve::kSine ? fmt::format("sin(6.283185307179586 * ({}))", y) : y;
}

std::string EncodedInC(CWriter& out, const ColumnScaling& scaling, const std::string& v) {
  std::string y = CurveInC(out, scaling.curve, v, CDouble(scaling.offset), CDouble(scaling.scale));
  if (!scaling.has_limits()) {
    return y;
  }
  out.AddOnce(
      "static double @_between(double y, double low, double high) {\n"
      "  return y < low ? low : y > high ? high : y;\n"
      "}\n\n");
  const auto limit = [](double value) {
    return std::isfinite(value) ? CDouble(value) : value < 0 ? "-HUGE_VAL" : "HUGE_VAL";
  };
  return fmt::format("@_between({}, {}, {})", y, limit(scaling.low), limit(scaling.high));
}

std::string DecodedInC(CWriter& out, const ColumnScaling& scaling, const std::string& y) {
  std::string value = scaling.scale == 1 ? y : fmt::format("{} * {}", y, CDouble(scaling.scale));
  if (scaling.offset != 0) {
    value = scaling.offset > 0 ? fmt::format("{} + {}", value, CDouble(scaling.offset))
                               : fmt::format("{} - {}", value, CDouble(-scaling.offset));
  }
  if (scaling.curve != Curve::kLogarithm) {
    return value;
  }
  out.AddOnce(
      "/* The number whose logarithm (of itself and 1, by its sign) is y. */\n"
      "static double @_power(double y) { return copysign(expm1(fabs(y)), y); }\n\n");
  return fmt::format("@_power({})", value);
}

}  // namespace lamina
