// Ctrl-C as a question that long work asks.
#pragma once

namespace lamina::cli {

/// The number of the signal that ends the program at once. The second may be the first again: a launcher forwards what
/// the terminal sent to all, and a service manager sends two kinds.
inline constexpr int kRequestsToEndAtOnce = 3;

/// From now on these signals are counted: SIGINT, SIGTERM, SIGXCPU (the time of `ulimit -t` is over) and SIGHUP (the
/// terminal is gone). SIGHUP stays ignored where it is, as by nohup. The first only makes Interrupted() true; the third
/// ends the program.
void CatchInterrupts();
bool Interrupted();

}  // namespace lamina::cli
