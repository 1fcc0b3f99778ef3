// Ctrl-C as a question that long work asks.
#pragma once

namespace lamina::cli {

/// From now on the first SIGINT or SIGTERM only sets a flag; a second one ends the program at once.
void CatchInterrupts();
bool Interrupted();

}  // namespace lamina::cli
