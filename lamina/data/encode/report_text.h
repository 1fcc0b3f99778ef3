// What was met while rows were encoded, in the sentences that every door says.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"

namespace lamina {

/// One sentence each on categories encoded as zeros and missing values filled in. With `asked` rows, also on cells that
/// are no numbers and numbers far from the training's. Empty: nothing to say.
std::vector<std::string> NotesOn(const EncodeReport& report, bool asked);

/// Which values of the target training did not see, and how many rows by the class they are counted to; "" for none.
std::string NewLabelsNote(const EncodeReport& report);

}  // namespace lamina
