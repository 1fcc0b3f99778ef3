// Another program, run without a shell.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/platform/child.h"

namespace lamina {

struct ChildOptions {
  std::string output_path;   // a file for its standard output; "": nowhere
  bool converses = false;    // Say() and Hear() reach its standard input and output, instead
  bool keep_errors = false;  // its standard error is kept for error_text(), else it goes nowhere
  bool own_group = false;    // the processes that it starts end with it
  std::string remedy;        // where it cannot be started: "apt-get install curl"
};

/// A running program, with an empty standard input unless it converses. One thread at a time.
class ChildProcess {
 public:
  /// `words`: the program, a path or a name that PATH has, and its arguments. A program that cannot be started shows in
  /// started(). Throws Error(kResource) where the system has no pipe left.
  explicit ChildProcess(const std::vector<std::string>& words, const ChildOptions& options = {});
  /// Ends it (SIGTERM) and waits until it is gone.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// No: "curl is missing (apt-get install curl)", or why else it did not start.
  Verdict started() const;
  /// True once it has ended, or where it did not start. Never waits.
  bool Poll();
  /// Waits for its end. `stop` is asked every 20 ms; once it says true, the program is told to end (SIGTERM).
  void Wait(const std::function<bool()>& stop = {});

  // With ChildOptions::converses:
  /// Writes a line; false where nobody reads it any more.
  bool Say(const std::string& line);
  /// The next line that it writes, without its end; nothing once it writes no more, or where `stop`, asked every 20 ms,
  /// says true.
  std::optional<std::string> Hear(const std::function<bool()>& stop = {});

  /// Waits until its threads no longer compute: some spin for a tenth of a second for work that does not come. False
  /// where they still do after so long, or where the system does not tell.
  bool WaitUntilIdle(double most_seconds) const;

  // Once it has ended:
  /// Its exit code, 128 + the signal that ended it, or -1 where it did not start.
  int exit_status() const { return exit_status_; }
  /// What it wrote on standard error, with keep_errors.
  const std::string& error_text() const { return error_text_; }

 private:
  void ReadErrors();
  bool Reap(bool wait);

  std::string program_;
  ChildOptions options_;
  platform::Child child_;
  std::string heard_;
  int start_error_ = 0;
  int exit_status_ = -1;
  std::string error_text_;
};

}  // namespace lamina
