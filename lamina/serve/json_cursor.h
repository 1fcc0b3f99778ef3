// JSON of a request, read front to back without a tree: a row of 784 numbers takes microseconds.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

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
  /// The same of a number with at most 15 digits and no exponent, as almost all are, read in one go. False:
  /// what stands next is something else, or no JSON; nothing was read then.
  bool ShortNumber(JsonNumber& number) {
    const char* const behind = ShortNumberAt(text_.data() + at_, number);
    at_ = behind == nullptr ? at_ : static_cast<size_t>(behind - text_.data());
    return behind != nullptr;
  }
  /// Appends the short numbers of a list that stand next, up to the last that has a comma right behind it.
  void ShortNumbers(std::vector<double>& to);
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
      } while (GoesOn() || Continues(']'));
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
  // The comma right behind a value.
  bool GoesOn() {
    const bool comma = at_ < text_.size() && text_[at_] == ',';
    at_ += comma ? 1 : 0;
    return comma;
  }
  // Where the number ends that begins at `at`; null: no short number.
  const char* ShortNumberAt(const char* at, JsonNumber& number) const;
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

// Digits from `at` up to `most` go behind those of `digits`. Fewer than eight take no branch for each: how many there
// are is different in most numbers, which a processor cannot foresee. `end`: of what may be read.
inline const char* AppendDigits(const char* at, const char* most, const char* end, int64_t& digits) {
  constexpr int64_t kPowers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
  if constexpr (std::endian::native == std::endian::little) {
    uint64_t eight = 0;
    if (end - at >= static_cast<std::ptrdiff_t>(sizeof eight) &&
        most - at >= static_cast<std::ptrdiff_t>(sizeof eight)) {
      std::memcpy(&eight, at, sizeof eight);
      eight ^= 0x3030303030303030;  // digits are 0 to 9 then
      const uint64_t others = ((eight + 0x7676767676767676) | eight) & 0x8080808080808080;
      const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
      if (count == 0) {
        return at;
      }
      if (count < 8) {
        uint64_t pairs = eight << (64 - 8 * count);  // zeros in front
        pairs = pairs * 10 + (pairs >> 8);
        digits =
            digits * kPowers[count] + static_cast<int64_t>(((pairs & 0x000000FF000000FF) * 0x000F424000000064 +
                                                            (pairs >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >>
                                                           32);
        return at + count;
      }
    }
  }
  for (; at < most && *at >= '0' && *at <= '9'; ++at) {
    digits = 10 * digits + (*at - '0');
  }
  return at;
}

inline const char* JsonCursor::ShortNumberAt(const char* at, JsonNumber& number) const {
  constexpr size_t kMostDigits = 15;  // and so below 2^53: the one division rounds as it should
  static constexpr std::array<double, kMostDigits + 1> kPowers = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* const end = text_.data() + text_.size();
  for (; at < end && *at == ' '; ++at) {
  }
  const char* const begin = at;
  const bool negative = at < end && *at == '-';
  at += negative ? 1 : 0;
  const char* const first = at;
  const char* const most = end - first > 17 ? first + 17 : end;  // digits and a point: below 2^63
  int64_t digits = 0;
  at = AppendDigits(at, most, end, digits);
  auto count = static_cast<size_t>(at - first);
  if (count == 0 || (count > 1 && *first == '0')) {
    return nullptr;
  }
  auto value = static_cast<double>(negative ? -digits : digits);
  if (at < end && *at == '.') {
    const char* const point = at;
    at = AppendDigits(at + 1, most, end, digits);
    const auto behind = static_cast<size_t>(at - point) - 1;
    count += behind;
    if (behind == 0 || count > kMostDigits) {
      return nullptr;
    }
    value = static_cast<double>(digits) / kPowers[behind];
    value = negative ? -value : value;
  } else if (digits == 0 && negative) {
    value = -0.0;
  }
  if (count > kMostDigits || (at < end && *at != ',' && *at != ']' && *at != '}')) {
    return nullptr;
  }
  number = {value, {begin, static_cast<size_t>(at - begin)}};
  return at;
}

inline void JsonCursor::ShortNumbers(std::vector<double>& to) {
  const char* const end = text_.data() + text_.size();
  const char* at = text_.data() + at_;  // not in memory: the next number waits for it
  JsonNumber number;
  for (const char* behind; (behind = ShortNumberAt(at, number)) != nullptr && behind < end && *behind == ',';) {
    to.push_back(number.value);
    at = behind + 1;
  }
  at_ = static_cast<size_t>(at - text_.data());
}

/// `text` as a string of JSON, in quotes; broken UTF-8 becomes U+FFFD.
void AppendJsonString(std::string& to, std::string_view text);
/// A number of an answer: nine digits of one that was computed in f32, as the program writes it, else all digits. null
/// for what is none.
void AppendJsonNumber(std::string& to, double value, bool exact);

}  // namespace lamina::serve
