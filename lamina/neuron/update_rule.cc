// Names of update rules and their usual numbers.
#include "lamina/neuron/update_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "lamina/base/error.h"
#include "lamina/base/text.h"

namespace lamina {
namespace {

template <class Fn>
auto VisitKind(UpdateKind kind, const Fn& fn) {
  return VisitFormula<formulas::Updates>(static_cast<size_t>(kind), fn);
}

}  // namespace

std::vector<std::string> UpdateKindNames() {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::tuple_size_v<formulas::Updates>; ++i) {
    names.emplace_back(UpdateKindName(static_cast<UpdateKind>(i)));
  }
  return names;
}

std::string_view UpdateKindName(UpdateKind kind) {
  return VisitKind(kind, []<class U>(U) { return std::string_view(U::kName); });
}

UpdateKind ParseUpdateKind(std::string_view name) {
  const std::vector<std::string> names = UpdateKindNames();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) {
      return static_cast<UpdateKind>(i);
    }
  }
  throw Error(ErrorCode::kInvalidArgument, "unknown update rule",
              {.value = std::string(name),
               .remedy = DidYouMean(name, names) + fmt::format("Known: {}.", fmt::join(names, ", "))});
}

bool UpdateReads(UpdateKind kind, std::string_view number) {
  return VisitKind(
      kind, [&]<class U>(U) { return std::find(U::kReads.begin(), U::kReads.end(), number) != U::kReads.end(); });
}

double DefaultLearningRate(UpdateKind kind) {
  return VisitKind(kind, []<class U>(U) { return U::kDefaultRate; });
}

double DefaultBeta2(UpdateKind kind) {
  return VisitKind(kind, []<class U>(U) {
    if constexpr (requires { U::kDefaultBeta2; }) {
      return U::kDefaultBeta2;
    } else {
      return UpdateRule{}.beta2;
    }
  });
}

int UpdateRule::StateCount() const {
  return VisitKind(kind, [&]<class U>(U) { return StatesOf<U>(momentum != 0.0); });
}

}  // namespace lamina
