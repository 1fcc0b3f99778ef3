// A search as it runs.
#include "search_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"
#include "lamina/base/utf8.h"
#include "lamina/platform/process.h"
#include "print.h"
#include "progress.h"

namespace lamina::cli {
namespace {

constexpr double kDrawInterval_seconds = 0.1;
constexpr size_t kMaxRows = 20;

std::string MetricText(const TrialScore& score) {
  if (score.epoch == 0) {
    return "";
  }
  return std::isnan(score.accuracy)
             ? fmt::format("loss {:.5g}", score.loss)
             : fmt::format("accuracy {} %, loss {:.5g}", PercentText(score.accuracy), score.loss);
}

std::string ValuesText(const Search& search, const Trial& trial) {
  std::string text;
  for (size_t p = 0; p < trial.values.size(); ++p) {
    text += fmt::format("{}{}={}", p == 0 ? "" : " ", search.space().parameters()[p].name, trial.values[p]);
  }
  return text;
}

platform::TerminalSize SizeOfScreen() {
  const platform::TerminalSize size = platform::SizeOfTerminal(platform::kStandardOutput);
  return size.columns > 0 ? size : platform::TerminalSize{80, 24};
}

// What is shown of a line, in so many bytes at most.
std::string Cut(std::string_view line, size_t columns) {
  const std::string shown = WithoutControls(line);
  return shown.substr(0, Utf8Fit(shown, columns));
}

}  // namespace

std::vector<std::string> RankingLines(const Search& search, std::span<const Trial> trials,
                                      std::span<const size_t> ranking, size_t rows, size_t columns) {
  const auto& parameters = search.space().parameters();
  const size_t shown = std::min(rows, ranking.size());
  std::vector<size_t> widths;
  for (size_t p = 0; p < parameters.size(); ++p) {
    widths.push_back(parameters[p].name.size());
    for (size_t i = 0; i < shown; ++i) {
      widths[p] = std::max(widths[p], std::min<size_t>(30, trials[ranking[i]].values[p].size()));
    }
  }
  std::string header = "rank trial  state  ";
  for (size_t p = 0; p < parameters.size(); ++p) {
    header += fmt::format("  {:>{}}", parameters[p].name, widths[p]);
  }
  header += search.by_accuracy() ? "  accuracy %" : "";
  header += "        loss  epoch   epochs    time";
  std::vector<std::string> lines{Cut(header, columns)};
  for (size_t i = 0; i < shown; ++i) {
    const Trial& trial = trials[ranking[i]];
    const TrialScore score = ScoreOf(trial, search.keeps_best());
    const bool measured = score.epoch > 0 && trial.state != TrialState::kFailed;
    std::string line = fmt::format("{:>4} {:>5}  {:<7}", measured ? fmt::format("{}", i + 1) : "-", trial.number,
                                   TrialStateName(trial.state));
    for (size_t p = 0; p < parameters.size(); ++p) {
      line += fmt::format("  {:>{}}", trial.values[p].substr(0, 30), widths[p]);
    }
    if (search.by_accuracy()) {
      line += fmt::format("  {:>10}", measured ? PercentText(score.accuracy) : "-");
    }
    line +=
        fmt::format("  {:>10}  {:>5}  {:>7}  {:>6}", measured ? fmt::format("{:.5g}", score.loss) : "-", score.epoch,
                    fmt::format("{}/{}", trial.history.epochs.size(), trial.epochs), DurationText(trial.seconds()));
    if (!trial.failure.empty()) {
      line += "  " + trial.failure;
    }
    lines.push_back(Cut(line, columns));
  }
  return lines;
}

void SearchTable::Update(const SearchView& view) {
  if (!terminal_) {
    PrintLine(view);
    return;
  }
  const bool ended = view.changed != nullptr && view.changed->state != TrialState::kRunning;
  if (lines_ == 0 || ended || since_drawn_.Elapsed_seconds() >= kDrawInterval_seconds) {
    Draw(view);
    since_drawn_.Restart();
  }
}

// One line where a trial has finished a stage or failed.
void SearchTable::PrintLine(const SearchView& view) const {
  if (view.changed == nullptr || view.changed->state == TrialState::kRunning) {
    return;
  }
  const Trial& trial = *view.changed;
  const TrialScore score = ScoreOf(trial, search_.keeps_best());
  Print("stage {}/{}  trial {}/{}  {}  epoch {}/{}  {}\n", view.stage, view.stages, trial.number, view.trials.size(),
        ValuesText(search_, trial), trial.history.epochs.size(), trial.epochs,
        trial.failure.empty() ? MetricText(score) : "failed: " + trial.failure);
  std::fflush(stdout);
}

void SearchTable::Draw(const SearchView& view) {
  const platform::TerminalSize size = SizeOfScreen();
  const auto columns = static_cast<size_t>(std::max(20, size.columns - 1));
  const auto rows = std::min(static_cast<size_t>(std::max(1, size.rows - 5)), kMaxRows);
  int64_t running = 0;
  int64_t reached = 0;
  int64_t in_stage = 0;
  for (const Trial& trial : view.trials) {
    running += trial.state == TrialState::kRunning ? 1 : 0;
    const bool out = trial.state == TrialState::kStopped || trial.state == TrialState::kFailed;
    in_stage += out ? 0 : 1;
    reached += !out && trial.stage >= view.stage ? 1 : 0;
  }
  const std::vector<size_t> ranking = RankTrials(view.trials, search_.by_accuracy(), search_.keeps_best());
  std::vector<std::string> lines = RankingLines(search_, view.trials, ranking, rows, columns);
  lines.insert(lines.begin(), Cut(fmt::format("stage {}/{}: {} of {} trials done, {} running", view.stage, view.stages,
                                              reached, in_stage, running),
                                  columns));
  if (ranking.size() > rows) {
    lines.push_back(Cut(fmt::format("... and {} more", ranking.size() - rows), columns));
  }
  std::string text = lines_ > 0 ? fmt::format("\033[{}A\r", lines_) : "";
  for (const std::string& line : lines) {
    text += line + "\033[K\n";
  }
  text += "\033[J";
  lines_ = static_cast<int>(lines.size());
  Print("{}", OwnText{text});
  std::fflush(stdout);
}

void SearchTable::Clear() {
  if (lines_ > 0) {
    Print("\033[{}A\r\033[J", lines_);
    std::fflush(stdout);
    lines_ = 0;
  }
}

}  // namespace lamina::cli
