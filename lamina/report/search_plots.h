// Pictures of a search.
#pragma once

#include <string>
#include <vector>

#include "lamina/report/plots.h"
#include "lamina/search/search.h"

namespace lamina {

/// "curves": the validation metric by epoch, one curve a trial, at most kMaxCurves of the best; "setting_NAME" for
/// every varied setting of numbers: the metric that each of its values reached at best.
std::vector<Plot> SearchPlots(const Search& search, const SearchResult& result);
/// The ids of all that a search of this space may draw.
std::vector<std::string> SearchPlotIds(const SearchSpace& space);

}  // namespace lamina
