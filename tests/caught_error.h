// The Error that a call throws, for tests of messages.
#pragma once

#include "gtest/gtest.h"
#include "lamina/base/error.h"

namespace lamina {

/// Fails the test if `fn` does not throw an Error.
template <class Fn>
Error CaughtError(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ErrorCode::kUnsupported, "no error"};
}

/// Whether `text` holds `part`, with both in the failure message.
inline testing::AssertionResult Mentions(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "'" << text << "' does not mention '" << part << "'";
}

}  // namespace lamina
