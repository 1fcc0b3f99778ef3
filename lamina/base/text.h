// Small text helpers: splitting, strict number parsing, "did you mean".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lamina {

/// Pieces of `text` between `separator`s; one (empty) piece for an empty text.
std::vector<std::string_view> SplitText(std::string_view text, char separator);
/// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);
/// The whole of `text` as a finite or infinite number, or NaN if it is not one (strict, locale-free).
double ParseNumber(std::string_view text);
/// The whole of `text` as an integer.
std::optional<int64_t> ParseInteger(std::string_view text);
/// "Did you mean 'x'? " for the candidate nearest to `name` by edit distance, or "" if none is near.
std::string DidYouMean(std::string_view name, std::span<const std::string> candidates);
/// "a, b or c".
std::string ChoiceText(std::span<const std::string> choices);
/// `text` as a field of a CSV file (RFC 4180): in quotes where it holds a comma, a quote or a line end.
std::string CsvField(std::string_view text);
/// At most `most_bytes` of `text`, for a message; whole UTF-8 characters.
std::string Excerpt(std::string_view text, size_t most_bytes = 60);
/// `text` on one line, as a terminal may get it: what steers it (utf8.h) as "\\n", "\\x1B", broken UTF-8 as "\\xFF".
std::string WithoutControls(std::string_view text);
/// What a JSON exception says without its tag: "key 'x' not found" of "[json.exception.out_of_range.403] key 'x' ...".
std::string_view WithoutTag(std::string_view text);
/// A share as per cent with two digits, "85.63" (halves up); "-" for NaN.
std::string PercentText(double share);
/// A figure with six digits, thousands separated: "57,322.9", "16,338,300", "0.000123457".
std::string FigureText(double value);
/// `text` with "{s}" as the plural's s where `count` is not 1: "1 row", "2 rows".
std::string Plural(int64_t count, std::string_view text);
/// The count and what is counted: "1 row", "1,234 rows" of "row{s}".
std::string Counted(int64_t count, std::string_view what);
/// "1,234,567".
std::string WithThousands(int64_t value);
/// Bytes of "600M", "1.5GiB", "2 GB", "4096": units of 1000 (K, M, G, T, also with B) or of 1024 (KiB, MiB, GiB, TiB).
/// Throws Error(kInvalidArgument) for anything else, and unless the size is at least 1 byte and can be counted.
int64_t ParseBytes(std::string_view text);
/// "512 B", "1 MiB", "23.5 GiB": at most one decimal.
std::string BytesText(int64_t size_bytes);
/// "12 ms", "3.4 s", "5:06", "1:02:03".
std::string DurationText(double seconds);

}  // namespace lamina
