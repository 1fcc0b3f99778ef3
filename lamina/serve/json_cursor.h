// JSON of a request, read front to back without a tree: a row of 784 numbers takes microseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lamina::serve {

/// A number with the text that it was written as. A view into the JSON.
struct JsonNumber {
  double value = 0;
  std::string_view text;
};

/// Strict (RFC 8259), but for NaN, which Python writes for a missing number. Whatever it throws is Error(kBadData) with
/// the byte where the text went wrong.
class JsonCursor {
 public:
  /// `text` outlives the cursor.
  explicit JsonCursor(std::string_view text) : text_(text) {}

  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject, kNone };
  /// What stands next; kNone: nothing that is a value.
  Kind Peek();

  void Null();
  bool Bool();
  JsonNumber Number();
  /// The text without escapes: a view into the JSON, or into `room` where there were some.
  std::string_view String(std::string& room);
  /// Any value.
  void Skip();
  /// Throws unless all of the text was read.
  void End();

  /// `item()` reads one value each time.
  template <class Item>
  void Array(const Item& item) {
    Enter('[');
    if (!Leaves(']')) {
      do {
        item();
      } while (Continues(']'));
    }
    --depth_;
  }
  /// `member(name)` reads its value; `name` lives until that begins.
  template <class Member>
  void Object(const Member& member) {
    Enter('{');
    if (!Leaves('}')) {
      do {
        std::string room;
        Peek();
        const std::string_view name = String(room);
        Expect(':');
        member(name);
      } while (Continues('}'));
    }
    --depth_;
  }

  [[noreturn]] void Fail(std::string_view what) const;

 private:
  char Next();
  void Expect(char c);
  void Enter(char open);
  bool Leaves(char close);
  bool Continues(char close);
  void Word(std::string_view word);
  void AppendEscape(std::string& room);
  uint32_t Hex();
  size_t EndOfNumber() const;

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

/// `text` as a string of JSON, in quotes; broken UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& to, std::string_view text);
/// A number of an answer: nine digits of one that was computed in f32, as the program writes it, else all; null for
/// what is none.
void AppendJsonNumber(std::string& to, double value, bool exact);

}  // namespace lamina::serve
