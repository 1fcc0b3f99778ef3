// Categories, hashed words, and functions of other columns.
#include "lamina/model/c_source/c_inputs_text.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "lamina/base/text.h"
#include "lamina/data/files/missing_marks.h"
#include "lamina/data/files/text_numbers.h"
#include "lamina/model/c_source/c_scaling.h"

namespace lamina {
namespace {

constexpr const char* kIsWord =
    "/* Whether a cell, without blanks at its ends, is a word; `any_case`: in lower case, capitals count as such. */\n"
    "static int @_is(const char *cell, const char *word, int any_case) {\n"
    "  while (*cell == ' ' || *cell == '\\t')\n"
    "    ++cell;\n"
    "  for (; *word != '\\0'; ++cell, ++word) {\n"
    "    const int upper = any_case && *cell >= 'A' && *cell <= 'Z';\n"
    "    if ((upper ? *cell - 'A' + 'a' : *cell) != *word)\n"
    "      return 0;\n"
    "  }\n"
    "  while (*cell == ' ' || *cell == '\\t')\n"
    "    ++cell;\n"
    "  return *cell == '\\0';\n"
    "}\n\n";

constexpr const char* kFind =
    "/* The place of a cell among some words, -1 where it is none of them. */\n"
    "static int @_find(const char *cell, const char *const *words, int count) {\n"
    "  int i;\n"
    "  for (i = 0; i < count; ++i) {\n"
    "    if (@_is(cell, words[i], 0))\n"
    "      return i;\n"
    "  }\n"
    "  return -1;\n"
    "}\n\n";

constexpr const char* kHash =
    "/* Whether a byte is part of a word: a letter in lower case, a digit, a byte beyond ASCII; -1 if not. */\n"
    "static int @_letter(char c) {\n"
    "  const int byte = (unsigned char)c;\n"
    "  const int upper = byte >= 'A' && byte <= 'Z';\n"
    "  const int part = upper || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte >= 128;\n"
    "  return !part ? -1 : upper ? byte - 'A' + 'a' : byte;\n"
    "}\n\n"
    "static const uint64_t @_hash_start = (uint64_t)14695981039346656037ULL;\n\n"
    "static uint64_t @_hash_on(uint64_t hash, int byte) {\n"
    "  return (hash ^ (uint64_t)(unsigned char)byte) * (uint64_t)1099511628211;\n"
    "}\n\n"
    "/* Where the next word begins; NULL: there is none. */\n"
    "static const char *@_next(const char *text) {\n"
    "  while (*text != '\\0' && @_letter(*text) < 0)\n"
    "    ++text;\n"
    "  return *text == '\\0' ? NULL : text;\n"
    "}\n\n"
    "/* The hashes (FNV-1a) of a word, of it and the one before, and of all words; where it ends. */\n"
    "static const char *@_word(const char *text, uint64_t *word, uint64_t *pair, uint64_t *all) {\n"
    "  *pair = @_hash_on(*word, ' ');\n"
    "  *word = @_hash_start;\n"
    "  for (; @_letter(*text) >= 0; ++text) {\n"
    "    *word = @_hash_on(*word, @_letter(*text));\n"
    "    *pair = @_hash_on(*pair, @_letter(*text));\n"
    "    *all = @_hash_on(*all, @_letter(*text));\n"
    "  }\n"
    "  *all = @_hash_on(*all, ' ');\n"
    "  return text;\n"
    "}\n\n";

constexpr const char* kBuckets =
    "static void @_count(uint64_t hash, double *buckets, int count) {\n"
    "  hash ^= hash >> 32;\n"
    "  buckets[(hash >> 1) % (uint64_t)count] += (hash & 1) != 0 ? 1.0 : -1.0;\n"
    "}\n\n"
    "/* Words and pairs of neighbors, counted in buckets by their hash and brought to length 1. */\n"
    "static void @_words(const char *text, double *buckets, int count) {\n"
    "  uint64_t word = @_hash_start, pair, all = @_hash_start;\n"
    "  int i, words = 0;\n"
    "  double squares = 0.0;\n"
    "  for (i = 0; i < count; ++i)\n"
    "    buckets[i] = 0.0;\n"
    "  while ((text = @_next(text)) != NULL) {\n"
    "    text = @_word(text, &word, &pair, &all);\n"
    "    @_count(word, buckets, count);\n"
    "    if (words++ > 0)\n"
    "      @_count(pair, buckets, count);\n"
    "  }\n"
    "  for (i = 0; i < count; ++i)\n"
    "    squares += buckets[i] * buckets[i];\n"
    "  for (i = 0; i < count; ++i)\n"
    "    buckets[i] = squares > 0.0 ? buckets[i] / sqrt(squares) : 0.0;\n"
    "}\n\n";

// Each hash counts once. All words tell the line, so they are read twice.
constexpr const char* kScores =
    "/* Adds the weights of the place of a word, a pair or a piece to the sums, the first time. */\n"
    "static void @_add_place(uint64_t hash, const int8_t *line, int buckets, int scores, uint8_t *seen, int *places,\n"
    "                        double *sums) {\n"
    "  int place, k;\n"
    "  hash ^= hash >> 32;\n"
    "  place = (int)(hash % (uint64_t)buckets);\n"
    "  if ((seen[place / 8] >> (place % 8) & 1) != 0)\n"
    "    return;\n"
    "  seen[place / 8] = (uint8_t)(seen[place / 8] | 1 << (place % 8));\n"
    "  ++*places;\n"
    "  for (k = 0; k < scores; ++k)\n"
    "    sums[k] += line[place * @_lines * scores + k];\n"
    "}\n\n"
    "/* A byte of a word in lower case; a blank before it and behind it. */\n"
    "static int @_byte_of(const char *word, int size, int i) {\n"
    "  return i < 0 || i >= size ? ' ' : @_letter(word[i]);\n"
    "}\n\n"
    "/* The hash of three letters in a row; 0: there are less, or a letter does not begin here. */\n"
    "static uint64_t @_piece(const char *word, int size, int begin) {\n"
    "  uint64_t hash = @_hash_on(@_hash_start, 1);\n"
    "  int i, letters = 0;\n"
    "  if ((@_byte_of(word, size, begin) & 0xC0) == 0x80)\n"
    "    return 0;\n"
    "  for (i = begin; i <= size && letters < 3; ++i) {\n"
    "    hash = @_hash_on(hash, @_byte_of(word, size, i));\n"
    "    letters += i == size || (@_byte_of(word, size, i + 1) & 0xC0) != 0x80;\n"
    "  }\n"
    "  return letters == 3 ? hash : 0;\n"
    "}\n\n"
    "/* What the words of a text say: sums of weights over the root of the number of places. */\n"
    "static void @_scores(const char *text, const int8_t *weights, int buckets, int scores, uint8_t *seen,\n"
    "                     double *sums) {\n"
    "  uint64_t word = @_hash_start, pair, all = @_hash_start;\n"
    "  const char *next = text, *begin;\n"
    "  int i, size, words = 0, places = 0;\n"
    "  for (i = 0; i < scores; ++i)\n"
    "    sums[i] = 0.0;\n"
    "  for (i = 0; i < (buckets + 7) / 8; ++i)\n"
    "    seen[i] = 0;\n"
    "  while ((next = @_next(next)) != NULL)\n"
    "    next = @_word(next, &word, &pair, &all);\n"
    "  weights += (int)((all ^ all >> 32) % @_lines) * scores;\n"
    "  word = @_hash_start;\n"
    "  while ((text = @_next(text)) != NULL) {\n"
    "    begin = text;\n"
    "    text = @_word(text, &word, &pair, &all);\n"
    "    @_add_place(word, weights, buckets, scores, seen, &places, sums);\n"
    "    if (words++ > 0)\n"
    "      @_add_place(pair, weights, buckets, scores, seen, &places, sums);\n"
    "    size = (int)(text - begin);\n"
    "    for (i = -1; i < size; ++i) {\n"
    "      const uint64_t piece = @_piece(begin, size, i);\n"
    "      if (piece != 0)\n"
    "        @_add_place(piece, weights, buckets, scores, seen, &places, sums);\n"
    "    }\n"
    "  }\n"
    "  for (i = 0; i < scores; ++i)\n"
    "    sums[i] = sums[i] == 0.0 ? 0.0 : sums[i] / sqrt((double)places);\n"
    "}\n\n";

constexpr const char* kCivil =
    "/* The year or the month of a day since 1970-01-01. */\n"
    "static double @_civil(double date, int want_year) {\n"
    "  int32_t days, era, day_of_era, year_of_era, day_of_year, shifted, month;\n"
    "  if (!(fabs(date) < 1e8))\n"
    "    return NAN;\n"
    "  days = (int32_t)floor(date) + 719468;\n"
    "  era = (days >= 0 ? days : days - 146096) / 146097;\n"
    "  day_of_era = days - era * 146097;\n"
    "  year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;\n"
    "  day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);\n"
    "  shifted = (5 * day_of_year + 2) / 153;\n"
    "  month = shifted + (shifted < 10 ? 3 : -9);\n"
    "  return want_year ? (double)(year_of_era + era * 400 + (month <= 2 ? 1 : 0)) : (double)month;\n"
    "}\n\n";

constexpr const char* kWeekday =
    "/* 0 Monday to 6 Sunday of a day since 1970-01-01. */\n"
    "static double @_weekday(double date) {\n"
    "  const double day = floor(date) + 3.0;\n"
    "  return fabs(date) < 1e8 ? day - 7.0 * floor(day / 7.0) : NAN;\n"
    "}\n\n";

// @_is_missing: the marks of missing values.
std::string MissingFunction(const CColumns& columns) {
  std::vector<std::string> words;
  for (const std::string_view mark : CommonMissingMarks()) {
    words.emplace_back(mark);
  }
  words.insert(words.end(), {"-nan", "+nan"});
  words.insert(words.end(), columns.missing_words.begin(), columns.missing_words.end());
  std::string text =
      "/* Whether a cell says that there is no value. */\nstatic int @_is_missing(const char *cell) {\n"
      "  static const char *const marks[] = {";
  for (size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i % 8 == 7 ? ",\n      " : ", ") + CString(words[i]);
  }
  return text +
         "};\n  unsigned i;\n  if (cell == NULL)\n    return 1;\n"
         "  for (i = 0; i < sizeof(marks) / sizeof(marks[0]); ++i) {\n    if (@_is(cell, marks[i], 1))\n"
         "      return 1;\n  }\n  return 0;\n}\n\n";
}

// "true" and "false", as 1 and 0 and in other letters, where all categories are such: 2 lines more.
std::string TruthText(const FittedColumn& column, const std::string& cell) {
  std::optional<size_t> places[2];
  for (size_t i = 0; i < column.categories.size(); ++i) {
    const std::optional<bool> truth = ParseTruth(Trim(column.categories[i]));
    if (!truth) {
      return "";
    }
    places[*truth ? 1 : 0] = places[*truth ? 1 : 0].value_or(i);
  }
  std::string text;
  for (const bool truth : {false, true}) {
    if (const std::optional<size_t> place = places[truth ? 1 : 0]) {
      text += fmt::format("  if (k == -1 && (@_is({0}, \"{1}\", 1) || @_is({0}, \"{2}\", 0)))\n    k = {3};\n", cell,
                          truth ? "true" : "false", truth ? 1 : 0, *place);
    }
  }
  return text;
}

// Puts the weights into the source. Returns how the i-th score is an input.
std::string AddScores(CWriter& out, const TextScores& scores, int64_t place, const std::string& cell,
                      std::string& body) {
  out.AddOnce(fmt::format("enum {{ @_lines = {} }}; /* one of them scores a text */\n\n", TextScores::kFolds));
  out.AddOnce(kScores);
  std::vector<std::string> weights;
  std::ranges::transform(scores.weights, std::back_inserter(weights),
                         [](char w) { return std::to_string(static_cast<int8_t>(w)); });
  const auto numbers = [&](const char* what, const std::vector<double>& values) {
    std::vector<std::string> texts;
    std::ranges::transform(values, std::back_inserter(texts), &CDouble);
    out.AddArray("double", fmt::format("@_{}_{}", what, place), texts, 0, 8);
  };
  out.AddArray("int8_t", fmt::format("@_of_words_{}", place), weights, 0, 1);
  numbers("score_offsets", scores.offsets);
  numbers("score_steps", scores.steps);
  out.AddText("\n");
  out.stack_bytes += 8 * scores.count() + (scores.buckets + 7) / 8;
  body += fmt::format(
      "  {{\n    double numbers[{0}];\n    uint8_t seen[{1}];\n"
      "    @_scores(k == -2 ? \"\" : {2}, @_of_words_{3}, {4}, {0}, seen, numbers);\n",
      scores.count(), (scores.buckets + 7) / 8, cell, place, scores.buckets);
  return fmt::format("@_score_offsets_{0}[i] + @_score_steps_{0}[i] * numbers[i]", place);
}

std::string AddBuckets(CWriter& out, int64_t buckets, const std::string& cell, std::string& body) {
  out.AddOnce(kBuckets);
  out.stack_bytes += 8 * buckets;
  body +=
      fmt::format("  {{\n    double numbers[{0}];\n    @_words(k == -2 ? \"\" : {1}, numbers, {0});\n", buckets, cell);
  return "numbers[i]";
}

void AddWords(CWriter& out, const FittedColumn& column, const std::string& cell, int64_t code, bool fills,
              std::string& body) {
  out.AddOnce(kHash);
  const std::string input = column.scores ? AddScores(out, *column.scores, column.place, cell, body)
                                          : AddBuckets(out, column.buckets, cell, body);
  body += fills ? "" : fmt::format("    if (k == -2)\n      return {};\n", code);
  body += fmt::format(
      "    for (i = 0; i < {}; ++i) {{\n      if (!@_put(x, {}, {}))\n        return {};\n"
      "    }}\n  }}\n",
      column.value_width(), FromPlace(column.place), input, code);
}

void AddCategories(CWriter& out, const Preprocessor& preprocessor, const CColumn& raw, const FittedColumn& column,
                   int64_t code, std::string& body) {
  const std::string cell = fmt::format("texts[{}]", raw.constant);
  const std::string words = fmt::format("{}_words_{}", out.name(), raw.place);
  std::vector<std::string> names;
  for (const std::string& category : column.categories) {
    names.push_back(CString(Trim(category)));
    out.constant_bytes += std::ssize(category) + 1;
  }
  out.Add("/* What {} may be. */\n", CComment(column.name));
  out.AddArray("char *const", words, names, 0, 8);
  out.AddText("\n");
  body += fmt::format("  if (k == -1)\n    k = @_find({}, {}, {});\n", cell, words, names.size());
  body += TruthText(column, cell);
  if (Fills(preprocessor.policies().missing)) {
    body += fmt::format("  if (k == -2)\n    k = {};\n", column.fill_category);
  }
  if (column.has_other) {
    body += fmt::format("  if (k == -1)\n    k = {};\n", column.other());
  }
  const bool may_be_unseen = preprocessor.policies().unseen == UnseenPolicy::kZero || column.has_other;
  const bool fills = Fills(preprocessor.policies().missing);
  if (!may_be_unseen || !fills) {
    body += fmt::format("  if (k {})\n    return {};\n", may_be_unseen ? "== -2" : "< 0", code);
  }
  if (column.one_hot) {
    body += fmt::format("  for (i = 0; i < {}; ++i)\n    (void)@_put(x, {}, i == k ? 1.0 : 0.0);\n",
                        column.categories.size() + (column.has_other ? 1 : 0), FromPlace(column.place));
    return;
  }
  body += fmt::format("  v = k;\n  if (!@_put(x, {}, k < 0 ? 0.0 : {}))\n    return {};\n", column.place,
                      EncodedInC(out, column.scaling, "v"), code);
}

}  // namespace

void AddTextColumn(CWriter& out, const Preprocessor& preprocessor, const CColumns& columns, const FittedColumn& column,
                   std::string& body) {
  out.AddOnce(kIsWord);
  out.AddOnce(MissingFunction(columns));
  const CColumn& raw = *columns.Find(column.name);
  const int64_t code = 1 + (&raw - columns.columns.data());
  const std::string cell = fmt::format("texts[{}]", raw.constant);
  body += fmt::format("  /* {} */\n  k = @_is_missing({}) ? -2 : -1;\n", CComment(column.name), cell);
  if (column.indicates_missing) {
    body += fmt::format("  (void)@_put(x, {}, k == -2 ? 1.0 : 0.0);\n", column.place + column.value_width());
  }
  if (column.IsWords()) {
    AddWords(out, column, cell, code, Fills(preprocessor.policies().missing), body);
    return;
  }
  out.AddOnce(kFind);
  AddCategories(out, preprocessor, raw, column, code, body);
}

std::string DerivedText(CWriter& out, const Derivation& made, const std::string& x, const std::string& other) {
  const std::string_view function = made.function->name;
  if (function == "log") {
    out.AddOnce("/* sign(x) ln(1 + |x|) */\nstatic double @_log(double x) { return copysign(log1p(fabs(x)), x); }\n\n");
    return fmt::format("@_log({})", x);
  }
  if (function == "difference") {
    return fmt::format("{} - {}", x, other);
  }
  if (function == "ratio") {
    return fmt::format("{1} == 0.0 ? NAN : {0} / {1}", x, other);
  }
  if (function == "weekday") {
    out.AddOnce(kWeekday);
    return fmt::format("@_weekday({})", x);
  }
  out.AddOnce(kCivil);
  return fmt::format("@_civil({}, {})", x, function == "year" ? 1 : 0);
}

}  // namespace lamina
