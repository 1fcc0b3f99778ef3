// Errors of the library in the words of the window.
#include "problem.h"

#include <new>

#include "labels.h"

namespace lamina::gui {

Problem ProblemOf(const Error& error) {
  const ErrorContext& context = error.context();
  QString what;
  if (!context.file.empty()) {
    what = FromText(context.file) + QStringLiteral(": ");
  }
  if (context.line > 0) {
    what += QStringLiteral("line %1: ").arg(context.line);
  }
  if (!context.column.empty()) {
    what += QStringLiteral("column “%1”: ").arg(FromText(context.column));
  }
  QString message = WithLabels(FromText(error.message()));
  if (what.isEmpty() && !message.isEmpty()) {
    message[0] = message[0].toUpper();
  }
  what += message;
  if (!context.value.empty()) {
    what += QStringLiteral(": “%1”").arg(FromText(context.value).left(200));
  }
  return {what, WithLabels(FromText(context.remedy))};
}

Problem ProblemOf(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return ProblemOf(error);
  } catch (const std::bad_alloc&) {
    return {QStringLiteral("There is not enough memory"), QStringLiteral("Use fewer samples or a smaller network.")};
  } catch (const std::exception& error) {
    return {FromText(error.what()), {}};
  }
}

}  // namespace lamina::gui
