// Lines and arrays of C.
#include "lamina/model/c_source/c_writer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lamina/base/error.h"

namespace lamina {
namespace {

constexpr size_t kLineWidth = 100;

void AddRow(std::span<const std::string> values, std::string_view indent, std::string& text) {
  std::string line(indent);
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string piece = values[i] + (i + 1 < values.size() ? "," : "");
    if (line.size() + 1 + piece.size() > kLineWidth && line.size() > indent.size()) {
      text += line + '\n';
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + piece;
  }
  text += line;
}

}  // namespace

std::string CWriter::Number(double value) const {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::kUnsupported, "a parameter of the network is not a finite number: C has no such literal");
  }
  return dtype_ == DType::kF64 ? CDouble(value) : CFloat(static_cast<float>(value));
}

std::string CWriter::Function(std::string_view function) const {
  return std::string(function) + (dtype_ == DType::kF64 ? "" : "f");
}

void CWriter::AddText(std::string_view text) {
  for (const char c : text) {
    if (c == kNameMark) {
      text_ += name_;
    } else {
      text_ += c == kKeptMark ? kNameMark : c;
    }
  }
}

void CWriter::AddOnce(const std::string& text) {
  if (once_.insert(text).second) {
    AddText(text);
  }
}

void CWriter::AddArray(std::string_view type, const std::string& name, std::span<const std::string> values,
                       int64_t width, int64_t element_bytes) {
  const auto count = std::ssize(values);
  std::string text;
  if (width > 0) {
    text = fmt::format("static const {} {}[{}][{}] = {{\n", type, name, count / width, width);
    for (int64_t begin = 0; begin < count; begin += width) {
      text += "    {";
      std::string row;
      AddRow(values.subspan(static_cast<size_t>(begin), static_cast<size_t>(width)), "     ", row);
      text += row.substr(5) + (begin + width < count ? "},\n" : "}};\n");
    }
  } else {
    text = fmt::format("static const {} {}[{}] = {{\n", type, name, count);
    AddRow(values, "    ", text);
    text += "};\n";
  }
  AddText(text);
  constant_bytes += count * element_bytes;
}

void CWriter::AddNumbers(const std::string& name, std::span<const double> values, int64_t width) {
  std::vector<std::string> literals;
  literals.reserve(values.size());
  std::transform(values.begin(), values.end(), std::back_inserter(literals),
                 [&](double value) { return Number(value); });
  AddArray(real(), name, literals, width, real_bytes());
}

}  // namespace lamina
