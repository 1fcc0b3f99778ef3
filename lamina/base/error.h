// The one error type of lamina. Bad input, I/O and device failures throw it; see docs/architecture.md.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lamina {

enum class ErrorCode {
  kInvalidArgument,  // a setting that cannot be used (the program exits with 2)
  kNotFound,         // a file, column or name that does not exist
  kIo,               // reading or writing failed
  kBadData,          // a data file whose content is wrong
  kBadModel,         // a model or checkpoint file whose content is wrong
  kDiverged,         // training produced a NaN or infinite loss
  kUnsupported,      // valid, but not possible with this build, backend or device
  kResource,         // out of memory or of another resource
  kNetwork,          // a download failed
};

/// The name of `code` in snake_case, as in JSON output ("bad_data").
std::string_view ErrorCodeName(ErrorCode code);

/// Where an error happened and how to get past it. Empty fields (line 0) are left out of the text.
struct ErrorContext {
  std::string file;
  int64_t line = 0;  // 1-based
  std::string column;
  std::string value;
  std::string remedy;   // a full sentence
  std::string setting;  // the one to change, by the name of its flag; not part of the text, which says it in words
};

/// what() reads "file:line: column 'c': message: 'value'. Remedy".
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, std::string message, ErrorContext context = {});

  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }
  const ErrorContext& context() const { return context_; }

 private:
  ErrorCode code_;
  std::string message_;
  ErrorContext context_;
};

/// An answer to "can this be done?": `reason` says why not, or what to know beside a yes. Given when something is
/// built, never as a silent fallback.
struct Verdict {
  bool ok = true;
  std::string reason;

  static Verdict Yes() { return {}; }
  static Verdict YesBut(std::string remark) { return {true, std::move(remark)}; }
  static Verdict No(std::string why) { return {false, std::move(why)}; }
  explicit operator bool() const { return ok; }
};

}  // namespace lamina
