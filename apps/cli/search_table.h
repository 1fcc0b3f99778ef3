// A search as it runs: a table on a terminal, one plain line a trial and stage elsewhere.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lamina/base/timing.h"
#include "lamina/search/search.h"

namespace lamina::cli {

class SearchTable {
 public:
  /// `terminal`: standard output is one.
  SearchTable(const Search& search, bool terminal) : search_(search), terminal_(terminal) {}

  void Update(const SearchView& view);
  /// Erases the table; call before printing anything else.
  void Clear();

 private:
  void Draw(const SearchView& view);
  void PrintLine(const SearchView& view) const;

  const Search& search_;
  bool terminal_;
  int lines_ = 0;  // of the table on the screen
  Stopwatch since_drawn_;
};

/// The first `rows` of the ranking as a table of text, a line each, at most `columns` wide.
std::vector<std::string> RankingLines(const Search& search, std::span<const Trial> trials,
                                      std::span<const size_t> ranking, size_t rows, size_t columns);

}  // namespace lamina::cli
