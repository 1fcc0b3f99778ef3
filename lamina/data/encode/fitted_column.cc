// The inputs that one number becomes.
#include "lamina/data/encode/fitted_column.h"

namespace lamina {

std::vector<ColumnScaling> FittedColumn::Parts() const {
  std::vector<ColumnScaling> parts;
  for (size_t i = 0; i + 1 < edges.size(); ++i) {
    ColumnScaling& part = parts.emplace_back();
    part.offset = edges[i];
    part.scale = edges[i + 1] - edges[i];
    part.low = i == 0 ? -ColumnScaling::kUnlimited : 0;  // beyond the training rows it goes on as in the last bin
    part.high = i + 2 == edges.size() ? ColumnScaling::kUnlimited : 1;
  }
  if (edges.empty()) {
    parts.push_back(scaling);
  }
  for (const double period : periods) {
    parts.push_back({.curve = Curve::kSine, .offset = 0, .scale = period});
    parts.push_back({.curve = Curve::kSine, .offset = -period / 4, .scale = period});  // the cosine
  }
  for (const double code : codes) {
    parts.push_back({.curve = Curve::kEquals, .offset = code});
  }
  return parts;
}

}  // namespace lamina
