// What the writers of a model's C source share: the text so far, its names, and how much memory the code takes.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lamina/base/matrix_view.h"
#include "lamina/model/c_source/c_text.h"

namespace lamina {

/// What one row takes.
struct CWork {
  int64_t products = 0;     // a multiplication and an addition each
  int64_t differences = 0;  // a subtraction, an absolute value and an addition each
  int64_t curves = 0;       // values of activations
};

class CWriter {
 public:
  /// `name`: what everything begins with. `dtype`: of the network.
  CWriter(std::string name, DType dtype) : name_(std::move(name)), dtype_(dtype) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const char* real() const { return dtype_ == DType::kF64 ? "double" : "float"; }
  int64_t real_bytes() const { return DTypeSize_bytes(dtype_); }
  /// A number of the network's type.
  std::string Number(double value) const;
  /// A function of math.h on it: "expf" of "exp".
  std::string Function(std::string_view function) const;

  /// Adds lines. "@" stands for the name.
  template <class... Args>
  void Add(fmt::format_string<Args...> format, Args&&... args) {
    AddText(fmt::format(format, std::forward<Args>(args)...));
  }
  void AddText(std::string_view text);
  /// The same once, however often it is asked for.
  void AddOnce(const std::string& text);

  /// "static const TYPE NAME[SIZES] = {VALUES};": numbers that take `element_bytes` of flash each. `width`: of a row in
  /// braces of its own; 0: there is one row.
  void AddArray(std::string_view type, const std::string& name, std::span<const std::string> values, int64_t width,
                int64_t element_bytes);
  /// Numbers of the network's type.
  void AddNumbers(const std::string& name, std::span<const double> values, int64_t width = 0);

  const std::string& text() const { return text_; }
  /// Puts text before all that was added.
  void AddBefore(const std::string& text) { text_ = text + text_; }

  int64_t constant_bytes = 0;  // but for names
  int64_t name_bytes = 0;
  int64_t stack_bytes = 0;  // of arrays
  CWork work;

 private:
  std::string name_;
  DType dtype_;
  std::string text_;
  std::set<std::string> once_;
};

/// The i-th place from `first` on, as an index: "3 + i".
inline std::string FromPlace(int64_t first) { return first == 0 ? "i" : fmt::format("{} + i", first); }

/// The plural's s.
inline const char* Many(int64_t count) { return count == 1 ? "" : "s"; }

}  // namespace lamina
