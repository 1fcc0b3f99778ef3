// Fitting inputs, their names, and their place in model files.
#include "lamina/data/encode/input_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "lamina/data/encode/column_encode.h"
#include "lamina/data/encode/column_fit.h"
#include "lamina/data/encode/encoder_json.h"

namespace lamina {
namespace {

void AddNames(const FittedColumn& column, std::vector<std::string>& names) {
  for (const std::string& category : column.one_hot ? column.categories : std::vector<std::string>()) {
    names.push_back(column.name + "=" + category);
  }
  if (column.has_other) {
    names.push_back(column.name + " (other)");
  }
  for (int64_t i = 0; i < column.buckets; ++i) {
    names.push_back(fmt::format("{} (words {})", column.name, i));
  }
  for (size_t i = 0; i + 1 < column.edges.size(); ++i) {
    names.push_back(fmt::format("{} ({:.6g} to {:.6g})", column.name, column.edges[i], column.edges[i + 1]));
  }
  for (int64_t i = 0; column.scores && i < column.scores->count(); ++i) {
    names.push_back(column.scores->count() > 1 ? fmt::format("{} (score {})", column.name, i)
                                               : column.name + " (score)");
  }
  if (!column.one_hot && !column.IsWords() && column.edges.empty()) {
    names.push_back(column.name);
  }
  for (const double period : column.periods) {
    for (const char* wave : {"sine", "cosine"}) {
      names.push_back(fmt::format("{} ({} of {:.6g} days)", column.name, wave, period));
    }
  }
  for (const double code : column.codes) {
    names.push_back(fmt::format("{}={:.0f}", column.name, code));
  }
  if (column.indicates_missing) {
    names.push_back(column.name + " (missing)");
  }
}

}  // namespace

InputEncoder InputEncoder::Fit(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                               const PreprocessOptions& options, const Matrix& taught) {
  InputEncoder encoder;
  encoder.image_height_ = table.image_height;
  encoder.image_width_ = table.image_width;
  encoder.columns_ = FitInputs(table, rows, positions, options, taught);
  encoder.Finish(Fills(options.missing));
  return encoder;
}

void InputEncoder::Finish(bool measured_means) {
  count_ = PlaceColumns(columns_);
  for (FittedColumn& column : columns_) {
    column.keeps_mean = measured_means || column.fill != 0 || (!is_image() && !column.scaling.IsIdentity());
  }
}

bool InputEncoder::is_image() const {
  return image_height_ > 0 && image_height_ * image_width_ == std::ssize(columns_);
}

std::vector<std::string> InputEncoder::Names() const {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(count_));
  for (const FittedColumn& column : columns_) {
    AddNames(column, names);
  }
  return names;
}

void InputEncoder::AddTo(nlohmann::json& object) const {
  object["image_height"] = image_height_;
  object["image_width"] = image_width_;
  object["inputs"] = encoder_json::ToJson(columns_);
}

InputEncoder InputEncoder::FromJson(const nlohmann::json& object, bool measured_means) {
  InputEncoder encoder;
  encoder.image_height_ = encoder_json::Get<int64_t>(object, "image_height");
  encoder.image_width_ = encoder_json::Get<int64_t>(object, "image_width");
  encoder.columns_ = encoder_json::ColumnsFromJson(object, "inputs");
  if (encoder.columns_.empty()) {
    encoder_json::ThrowField("inputs", "is empty");
  }
  for (const FittedColumn& column : encoder.columns_) {
    if (column.kind == ColumnKind::kText && !column.IsWords() &&
        (column.fill_category < 0 || column.fill_category >= std::ssize(column.categories))) {
      encoder_json::ThrowField("fill_category", "is not an index of 'categories'",
                               std::to_string(column.fill_category));
    }
  }
  encoder.Finish(measured_means);
  return encoder;
}

Matrix FitAndEncode(const Table& table, std::span<const int64_t> rows, std::span<const int64_t> positions,
                    const PreprocessOptions& options) {
  const InputEncoder encoder = InputEncoder::Fit(table, rows, positions, options);
  std::vector<const Column*> columns;
  std::ranges::transform(positions, std::back_inserter(columns),
                         [&](int64_t position) { return &table.columns[static_cast<size_t>(position)]; });
  Matrix x(std::ssize(rows), encoder.count(), DType::kF64);
  EncodeReport report;
  EncodeColumns(table, encoder.columns(), columns, rows, {options.missing, options.unseen}, x, report);
  return x;
}

}  // namespace lamina
