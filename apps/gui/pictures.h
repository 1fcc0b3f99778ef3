// Pictures: rows whose numbers are the pixels of an image.
#pragma once

#include <QImage>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lamina/data/encode/input_encoder.h"
#include "lamina/data/files/table.h"

namespace lamina::gui {

/// How the numbers of a row make a picture: line by line, from black (0) to white.
struct PictureForm {
  int width = 0;
  int height = 0;
  double white = 255;
  std::vector<int64_t> columns;  // of the table, width × height

  bool operator==(const PictureForm&) const = default;
};

/// The form of pictures in a table of images. Also of columns of numbers, none negative, named like the pixels of a
/// square ("p0" to "p63", "pixel1" to "pixel784"). `columns` are all but `others` (the target).
std::optional<PictureForm> PicturesIn(const Table& table, std::span<const int64_t> others);

/// The same for what a model is fed with; `columns` are its inputs.
std::optional<PictureForm> PicturesFor(const InputEncoder& inputs);

/// The picture in `row`, gray, a pixel a number.
QImage PictureOf(const Table& table, const PictureForm& form, int64_t row);

}  // namespace lamina::gui
