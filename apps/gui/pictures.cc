// Recognizing and painting pictures.
#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "lamina/base/text.h"

namespace lamina::gui {
namespace {

constexpr int64_t kFewestPixels = 64;
constexpr int64_t kRowsLookedAt = 200;
constexpr double kBrightest = 1;  // scaled: what a model of pixels knows of white is the brightest usual pixel

// The number at the end of a name, -1 for none: 63 of "p63".
int64_t NumberAtEnd(const std::string& name) {
  const size_t last = name.find_last_not_of("0123456789");
  const std::string digits = name.substr(last == std::string::npos ? 0 : last + 1);
  return ParseInteger(digits).value_or(-1);
}

// "p0", "p1", "p2", ...
bool AreNumbered(std::span<const std::string> names) {
  const std::string& first = names.front();
  const std::string prefix = first.substr(0, first.find_last_not_of("0123456789") + 1);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!names[i].starts_with(prefix) || NumberAtEnd(names[i]) != NumberAtEnd(first) + static_cast<int64_t>(i)) {
      return false;
    }
  }
  return NumberAtEnd(first) >= 0;
}

// The side of a square of so many pixels that are called like pixels; 0: they are none.
int64_t SquareSide(std::span<const std::string> names) {
  const auto pixels = std::ssize(names);
  const auto side = std::llround(std::sqrt(static_cast<double>(pixels)));
  return pixels >= kFewestPixels && side * side == pixels && AreNumbered(names) ? side : 0;
}

}  // namespace

std::optional<PictureForm> PicturesIn(const Table& table, std::span<const int64_t> others) {
  PictureForm form;
  for (int64_t i = 0; i < std::ssize(table.columns); ++i) {
    if (std::find(others.begin(), others.end(), i) == others.end()) {
      form.columns.push_back(i);
    }
  }
  const auto pixels = std::ssize(form.columns);
  if (table.image_height * table.image_width == pixels && pixels > 0) {
    form.height = static_cast<int>(table.image_height);
    form.width = static_cast<int>(table.image_width);
    return form;
  }
  std::vector<std::string> names;
  for (const int64_t at : form.columns) {
    const Column& column = table.columns[static_cast<size_t>(at)];
    if (column.kind != ColumnKind::kNumber || column.is_date) {
      return std::nullopt;
    }
    names.push_back(column.name);
  }
  const int64_t side = SquareSide(names);
  if (side == 0 || table.rows == 0) {
    return std::nullopt;
  }
  double most = 0;
  for (const int64_t at : form.columns) {
    for (int64_t row = 0; row < std::min(table.rows, kRowsLookedAt); ++row) {
      const double value = table.columns[static_cast<size_t>(at)].Number(row);
      if (value < 0 || std::isnan(value)) {
        return std::nullopt;
      }
      most = std::max(most, value);
    }
  }
  if (most == 0) {
    return std::nullopt;
  }
  form.width = form.height = static_cast<int>(side);
  form.white = most;
  return form;
}

std::optional<PictureForm> PicturesFor(const InputEncoder& inputs) {
  PictureForm form;
  std::vector<std::string> names;
  double most = 0;
  for (const FittedColumn& column : inputs.columns()) {
    if (column.kind != ColumnKind::kNumber) {
      return std::nullopt;
    }
    form.columns.push_back(std::ssize(names));
    names.push_back(column.name);
    most = std::max(most, column.scaling.Decode(kBrightest));
  }
  form.height = static_cast<int>(inputs.image_height());
  form.width = static_cast<int>(inputs.image_width());
  if (form.height == 0) {
    form.width = form.height = static_cast<int>(SquareSide(names));
    form.white = most;
  }
  return form.width == 0 || form.white <= 0 ? std::nullopt : std::optional(form);
}

QImage PictureOf(const Table& table, const PictureForm& form, int64_t row) {
  QImage image(form.width, form.height, QImage::Format_Grayscale8);
  for (int y = 0; y < form.height; ++y) {
    for (int x = 0; x < form.width; ++x) {
      const int64_t at =
          form.columns[static_cast<size_t>(y) * static_cast<size_t>(form.width) + static_cast<size_t>(x)];
      const double shade = table.columns[static_cast<size_t>(at)].Number(row) / form.white;
      image.scanLine(y)[x] = static_cast<uchar>(std::lround(255 * std::clamp(std::isnan(shade) ? 0 : shade, 0.0, 1.0)));
    }
  }
  return image;
}

}  // namespace lamina::gui
