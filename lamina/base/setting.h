// A setting is one row of a table: its name, the field that it sets, and all else that is to be known about it. Flags,
// TOML, JSON, checks, searches and the window's fields are made from the rows.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"

namespace lamina {

/// Finite numbers from `low` to `high`.
struct NumberRange {
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  bool above_low = false;         // `low` itself is not one of them
  bool below_high = false;        // nor is `high`
  std::optional<bool> zero = {};  // whether 0 is one, whatever the bounds say

  bool Contains(double x) const;
  /// "at least 0 and below 1", "a positive number".
  std::string Text() const;
  /// Throws Error(kInvalidArgument), "NAME must be TEXT", with the value.
  void Require(std::string_view name, double x) const;
};

inline constexpr NumberRange kAnyNumber{};
inline constexpr NumberRange kNotZero{.zero = false};
inline constexpr NumberRange kPositive{.low = 0, .above_low = true};
inline constexpr NumberRange kNotNegative{.low = 0};
inline constexpr NumberRange kAtLeastOne{.low = 1};
inline constexpr NumberRange kShare{.low = 0, .high = 1};
inline constexpr NumberRange kShareBelowOne{.low = 0, .high = 1, .below_high = true};
inline constexpr NumberRange kThreadCounts{.low = 0, .high = 4096};  // 0: as many as there are
inline constexpr NumberRange kFoldCounts{.low = 2, .zero = true};    // 0: no folds

/// How the value of a setting is written.
enum class SettingKind {
  kText,
  kTextList,
  kInteger,
  kMaybeInteger,
  kCount,
  kIntegerList,
  kNumber,
  kMaybeNumber,
  kNumberList,
  kYesNo
};

/// P of every type that a setting can have, in the order of SettingKind.
template <template <class> class P>
using OfEveryKind =
    std::variant<P<std::string>, P<std::vector<std::string>>, P<int64_t>, P<std::optional<int64_t>>, P<uint64_t>,
                 P<std::vector<int64_t>>, P<double>, P<std::optional<double>>, P<std::vector<double>>, P<bool>>;
template <class S>
struct MemberOf {
  template <class T>
  using Type = T S::*;
};
template <class T>
using PointerTo = T*;
template <class T>
using PointerToConst = const T*;

/// Which field of S a setting sets.
template <class S>
using SettingMember = OfEveryKind<MemberOf<S>::template Type>;
using SettingField = OfEveryKind<PointerTo>;
using SettingValue = OfEveryKind<PointerToConst>;

/// How the trials of a search may stand to a setting.
enum class InTrials {
  kMayDiffer,
  kSame,     // they answer the same question on the same rows
  kOutside,  // files, threads: the search's own, results do not depend on them
};

/// What is to be known of a setting besides its name, field and help; most rows need little of it.
template <class S>
struct SettingFacts {
  std::optional<NumberRange> range = {};            // of the number, or of every number of a list
  std::vector<std::string> (*choices)() = nullptr;  // what a text can be
  bool more_choices = false;                        // not all of them: some take parameters
  bool (*effect)(const S&) = nullptr;               // whether it changes anything beside these settings; null: yes
  std::string_view effect_text = {};                // "For the schedule step"; where the help does not say it
  InTrials trials = InTrials::kMayDiffer;
  bool after_checkpoint = false;  // may be another one where a run goes on; else its checkpoint fixes it
  bool logarithmic = false;       // the ranges that a search tries
  bool shapes_loss = false;       // losses of different ones cannot be compared
  bool reads_file = false;        // how the data file is read
  bool of_one_run = false;        // no setting of what makes many runs by settings of its own
  bool of_columns = false;        // about the columns and rows of one data set
  bool commas = false;            // an element of the list has commas of its own
  std::vector<std::string> (*reads)(const std::string&) = nullptr;  // the files that its text names
  bool writes = false;                                              // its text is a file to be written
  bool decides_writing = false;  // without being such a text: a folder to write into, leave to replace
  bool was_switch = false;       // files from before it had "auto" hold true and false for "yes" and "no"
  /// Its help in one line, for one of the few that most people set (`-h`, the window's Basic); null: another one.
  const char* basic = nullptr;
};

template <class S>
struct Setting : SettingFacts<S> {
  Setting(std::string_view the_name, SettingMember<S> the_field, std::string the_help, SettingFacts<S> facts = {})
      : SettingFacts<S>(facts), name(the_name), field(the_field), help(std::move(the_help)) {}

  std::string_view name;   // of the flag, without its dashes; the same in files
  SettingMember<S> field;  // its default is that of S
  std::string help;
  std::string_view group;  // the title over it in the help

  SettingKind kind() const { return static_cast<SettingKind>(field.index()); }
  bool HasEffect(const S& settings) const { return this->effect == nullptr || this->effect(settings); }
  bool IsFile() const { return this->reads != nullptr || this->writes; }
  /// Whether it says where is written, or what may be replaced: never taken from a file without being given again.
  bool DecidesWriting() const { return this->writes || this->decides_writing; }
};

/// The rows of S, in the order of the help. Defined for every struct of settings.
template <class S>
std::span<const Setting<S>> SettingRows();

template <class S>
struct SettingGroup {
  std::string_view title;
  std::vector<Setting<S>> rows;
};

/// The rows of all groups in one list, each with its title.
template <class S>
std::vector<Setting<S>> JoinGroups(std::vector<SettingGroup<S>> groups) {
  std::vector<Setting<S>> all;
  for (SettingGroup<S>& group : groups) {
    for (Setting<S>& row : group.rows) {
      row.group = group.title;
      all.push_back(std::move(row));
    }
  }
  return all;
}

/// Calls fn(field) with the field of `settings`.
template <class S, class Fn>
void WithField(S& settings, const Setting<std::remove_const_t<S>>& row, const Fn& fn) {
  std::visit([&](auto member) { fn(settings.*member); }, row.field);
}

/// Calls fn(row, field) for every setting. Those of a member `train` come first, which S adds its own to; settings of
/// one run alone are left out of these.
template <class S, class Fn>
void VisitSettings(S& settings, const Fn& fn) {
  if constexpr (requires { settings.train; }) {
    VisitSettings(settings.train, [&](const auto& row, auto& field) {
      if (!row.of_one_run) {
        fn(row, field);
      }
    });
  }
  for (const auto& row : SettingRows<std::remove_const_t<S>>()) {
    WithField(settings, row, [&](auto& field) { fn(row, field); });
  }
}

/// Sets those rows back to their defaults for which which(row).
template <class S, class Fn>
void ResetSettings(S& settings, const Fn& which) {
  const S defaults;
  for (const Setting<S>& row : SettingRows<S>()) {
    if (which(row)) {
      std::visit([&](auto member) { settings.*member = defaults.*member; }, row.field);
    }
  }
}

/// How a number that is not given is written; an empty text is the same.
inline constexpr std::string_view kAutoText = "auto";
/// That of a switch with three answers.
inline constexpr std::string_view kYesText = "yes";
inline constexpr std::string_view kNoText = "no";

/// The value as a text: "yes" and "no", lists with commas, "" for what is not given.
std::string FieldText(SettingValue value);
/// Sets `field` from such a text. Throws Error(kInvalidArgument), naming setting `name`, for one that is none; the
/// field is then as before.
void ParseField(std::string_view name, std::string_view text, SettingField field);
/// Throws Error(kInvalidArgument) where a number is not in `range`, naming setting `name`.
void CheckRange(std::string_view name, const NumberRange& range, SettingValue value);
/// Throws the same unless `text` is one of `known`, with the nearest of them.
void CheckChoice(std::string_view name, const std::string& text, std::span<const std::string> known);

/// Throws Error(kInvalidArgument) for the first setting that is out of its range or none of its choices.
template <class S>
void CheckSettingRows(const S& settings) {
  VisitSettings(settings, [](const auto& row, const auto& field) {
    if (row.range) {
      CheckRange(row.name, *row.range, &field);
    }
    if constexpr (std::is_same_v<decltype(field), const std::string&>) {
      if (row.choices != nullptr && !row.more_choices) {
        CheckChoice(row.name, field, row.choices());
      }
    }
  });
}

/// Every file that the settings say is read or written, by its flag; those not given with an empty path.
template <class S>
FileUse FilesOfSettings(const S& settings) {
  FileUse files;
  for (const Setting<S>& row : SettingRows<S>()) {
    if (const auto* member = std::get_if<std::string S::*>(&row.field); member != nullptr && row.IsFile()) {
      const std::string flag = "--" + std::string(row.name);
      if (row.writes) {
        files.written.push_back({flag, settings.**member});
      } else {
        files.AddRead(flag, row.reads(settings.**member));
      }
    }
  }
  return files;
}

/// Throws Error(kInvalidArgument) about `setting`.
[[noreturn]] void RefuseSetting(std::string_view setting, std::string message, std::string value = "",
                                std::string remedy = "");

/// `error` about `setting`, unless it is about one already.
Error About(std::string_view setting, const Error& error);

/// fn(), whose errors are about `setting`.
template <class Fn>
decltype(auto) WithSetting(std::string_view setting, const Fn& fn) {
  try {
    return fn();
  } catch (const Error& error) {
    throw About(setting, error);
  }
}

}  // namespace lamina
