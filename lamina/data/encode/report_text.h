// What was met while rows were encoded, in the sentences that every door says.
#pragma once

#include <string>
#include <vector>

#include "lamina/data/encode/dataset.h"

namespace lamina {

/// A sentence each about categories encoded as zeros, missing values filled in and, of `asked` rows, cells that are no
/// numbers and numbers far from those of the training. Empty: nothing to say.
std::vector<std::string> NotesOn(const EncodeReport& report, bool asked);

/// Which values of the target training did not see, and how many rows by the class they are counted to; "" for none.
std::string NewLabelsNote(const EncodeReport& report);

}  // namespace lamina
