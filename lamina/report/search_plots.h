// Pictures of a search.
#pragma once

#include <string>
#include <vector>

#include "lamina/report/plots.h"
#include "lamina/search/search.h"

namespace lamina {

/// "curves": the validation metric by epoch, for at most kMaxCurves of the best trials. "setting_NAME", for every
/// varied number: the best metric that each of its values reached.
std::vector<Plot> SearchPlots(const Search& search, const SearchResult& result);
/// The ids of all that a search of this space may draw.
std::vector<std::string> SearchPlotIds(const SearchSpace& space);

}  // namespace lamina
