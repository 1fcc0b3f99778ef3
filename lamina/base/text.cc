// Small text helpers.
#include "lamina/base/text.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

#include "lamina/base/error.h"
#include "lamina/base/utf8.h"

namespace lamina {
namespace {

// What other programs call things.
constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {{"gpu", "cuda"},
                                                                       {"nvidia", "cuda"},
                                                                       {"device", "backend"},
                                                                       {"lr", "learning-rate"},
                                                                       {"eta", "learning-rate"},
                                                                       {"batch-size", "batch"},
                                                                       {"normalisation", "normalization"},
                                                                       {"batch-norm", "normalization"},
                                                                       {"batchnorm", "normalization"},
                                                                       {"l2", "weight-decay"},
                                                                       {"alpha", "weight-decay"},
                                                                       {"units", "hidden"},
                                                                       {"neurons", "hidden"},
                                                                       {"hidden-layers", "hidden"},
                                                                       {"label", "target"},
                                                                       {"label-column", "target"},
                                                                       {"y", "target"},
                                                                       {"exclude", "drop"},
                                                                       {"ignore", "drop"},
                                                                       {"delimiter", "separator"},
                                                                       {"sep", "separator"},
                                                                       {"early-stopping", "patience"},
                                                                       {"solver", "optimizer"},
                                                                       {"random-state", "seed"},
                                                                       {"max-iter", "epochs"},
                                                                       {"iterations", "epochs"},
                                                                       {"workers", "threads"},
                                                                       {"jobs", "threads"},
                                                                       {"output", "out"},
                                                                       {"impute", "missing"},
                                                                       {"normalize", "scale"},
                                                                       {"standardize", "scale"},
                                                                       {"input", "data"},
                                                                       {"file", "data"},
                                                                       {"logistic", "sigmoid"},
                                                                       {"linear", "identity"},
                                                                       {"swish", "silu"},
                                                                       {"proba", "probabilities"},
                                                                       {"keep-column", "keep-columns"},
                                                                       {"force", "overwrite"}};

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string_view> SplitText(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) {
      return pieces;
    }
    text.remove_prefix(at + 1);
  }
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

double ParseNumber(std::string_view text) {
  double value = 0;
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return whole ? value : std::nan("");
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string DidYouMean(std::string_view name, std::span<const std::string> candidates) {
  const bool flag = name.starts_with("--");
  for (const auto& [said, meant] : kMeanings) {
    if (name.substr(flag ? 2 : 0) != said) {
      continue;
    }
    const std::string wanted = (flag ? "--" : "") + std::string(meant);
    if (std::find(candidates.begin(), candidates.end(), wanted) != candidates.end()) {
      return "Did you mean '" + wanted + "'? ";
    }
  }
  const std::string* nearest = nullptr;
  size_t best = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (longer >= best) {
      continue;  // no distance is below that
    }
    const size_t distance = EditDistance(name, candidate);
    if (distance < best) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : "Did you mean '" + *nearest + "'? ";
}

std::string ChoiceText(std::span<const std::string> choices) {
  std::string text;
  for (size_t i = 0; i < choices.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
  }
  return text;
}

std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + '"';
}

std::string WithoutControls(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text, i);
    const char32_t code = length == 0 ? static_cast<unsigned char>(text[i]) : Utf8Code(text, i, length);
    if (length > 0 && !Steers(code)) {
      line += text.substr(i, length);
    } else if (code == '\n' || code == '\t' || code == '\r') {
      line += code == '\n' ? "\\n" : code == '\t' ? "\\t" : "\\r";
    } else {
      line += length > 1 ? fmt::format("\\u{:04X}", static_cast<uint32_t>(code))
                         : fmt::format("\\x{:02X}", static_cast<uint32_t>(code));
    }
    i += std::max<size_t>(length, 1);
  }
  return line;
}

std::string Excerpt(std::string_view text, size_t most_bytes) {
  if (text.size() <= most_bytes) {
    return std::string(text);
  }
  return std::string(text.substr(0, Utf8Fit(text, most_bytes))) + "...";
}

std::string_view WithoutTag(std::string_view text) {
  const size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string_view::npos ? text.substr(end + 2) : text;
}

std::string PercentText(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:.2f}", std::round(share * 1e4) / 100);
}

std::string FigureText(double value) {
  constexpr double kMostDigits = 1e15;
  const double size = std::abs(value);
  if (!(size >= 1000 && size < kMostDigits)) {
    return fmt::format("{:.6g}", value);
  }
  const int decimals = std::max(0, 5 - static_cast<int>(std::floor(std::log10(size))));
  std::string text = fmt::format("{:.{}f}", size, decimals);
  if (decimals > 0) {  // as the others: no zeros behind
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  const size_t point = std::min(text.find('.'), text.size());
  return (value < 0 ? "-" : "") + WithThousands(ParseInteger(text.substr(0, point)).value_or(0)) + text.substr(point);
}

std::string Plural(int64_t count, std::string_view text) {
  std::string result(text);
  constexpr std::string_view kMark = "{s}";
  for (size_t at = result.find(kMark); at != std::string::npos; at = result.find(kMark, at)) {
    result.replace(at, kMark.size(), count == 1 ? "" : "s");
  }
  return result;
}

std::string Counted(int64_t count, std::string_view what) { return WithThousands(count) + ' ' + Plural(count, what); }

std::string WithThousands(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t start = value < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > start + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

int64_t ParseBytes(std::string_view text) {
  constexpr std::string_view kPrefixes = "KMGT";
  const auto fail = [text](const char* what) {
    throw Error(ErrorCode::kInvalidArgument, what,
                {.value = std::string(text), .remedy = "Write a size like 600M, 1.5GiB or 4096 (bytes)."});
  };
  const std::string_view whole = Trim(text);
  const size_t end = std::min(whole.size(), whole.find_first_not_of("0123456789."));
  const double number = ParseNumber(whole.substr(0, end));
  std::string_view unit = Trim(whole.substr(end));
  double factor = 1;
  if (!unit.empty()) {
    const size_t power = kPrefixes.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    const std::string_view rest = power == std::string_view::npos ? unit : unit.substr(1);
    if (!(rest.empty() && power != std::string_view::npos) && rest != "B" && rest != "iB") {
      fail("unknown unit of a size");
    }
    factor =
        power == std::string_view::npos ? 1 : std::pow(rest == "iB" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
    if (power == std::string_view::npos && rest == "iB") {
      fail("unknown unit of a size");
    }
  }
  const double size_bytes = number * factor;
  if (std::isnan(size_bytes)) {
    fail("not a size");
  }
  if (size_bytes < 1 || size_bytes >= 0x1p62) {
    fail("a size must be at least 1 byte and below 4 EiB");
  }
  return static_cast<int64_t>(size_bytes);
}

std::string BytesText(int64_t size_bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(size_bytes);
  size_t unit = 0;
  while (std::fabs(value) >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = std::fabs(value - std::round(value)) < 0.05;
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, kUnits[unit]);
}

std::string DurationText(double seconds) {
  if (seconds < 1) {
    return fmt::format("{:.0f} ms", 1000 * seconds);
  }
  if (seconds < 10) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace lamina
