// Ctrl-C as a question that long work asks.
#pragma once

namespace lamina::cli {

/// The signal that ends the program at once. The second one may be the same request once more: a launcher forwards what
/// the terminal has sent to all, a service manager sends two kinds.
inline constexpr int kRequestsToEndAtOnce = 3;

/// From now on SIGINT, SIGTERM, SIGXCPU (the time of `ulimit -t` is over) and SIGHUP (the terminal is gone; not where
/// it is ignored, as by nohup) are counted: the first one only makes Interrupted() true, the third one ends the
/// program.
void CatchInterrupts();
bool Interrupted();

}  // namespace lamina::cli
