// Problem: an error as people read it, what happened and what to do.
#pragma once

#include <QString>
#include <exception>
#include <optional>

#include "lamina/base/error.h"

namespace lamina::gui {

struct Problem {
  QString what;
  QString remedy;  // a sentence, or empty
  QString Text() const { return remedy.isEmpty() ? what : what + QStringLiteral(". ") + remedy; }
};

Problem ProblemOf(const Error& error);
/// The problem that anything thrown describes, also a lack of memory.
Problem ProblemOf(const std::exception_ptr& thrown);

/// Runs `work`; what it throws as a Problem.
template <class Work>
std::optional<Problem> Attempt(Work&& work) {
  try {
    work();
    return std::nullopt;
  } catch (...) {
    return ProblemOf(std::current_exception());
  }
}

inline QString FromText(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace lamina::gui
