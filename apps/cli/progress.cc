// Training as it runs.
#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lamina/base/text.h"
#include "lamina/platform/process.h"
#include "print.h"

namespace lamina::cli {
namespace {

constexpr int kBarCells = 20;
constexpr int64_t kAllLines = 30;  // as many epochs have a line each
constexpr int64_t kFirstLines = 5;
constexpr double kBetweenLines_seconds = 1;

int TerminalColumns() {
  const int columns = platform::SizeOfTerminal(platform::kStandardOutput).columns;
  return columns > 0 ? columns : 80;
}

std::string LossText(const char* name, double loss, double accuracy) {
  std::string text = fmt::format("{} {:.5g}", name, loss);
  if (!std::isnan(accuracy)) {
    text += fmt::format(" ({} %)", PercentText(accuracy));
  }
  return text;
}

}  // namespace

void PrintBar(const std::string& before, double share, const std::string& after) {
  const auto filled = static_cast<size_t>(std::clamp(kBarCells * share, 0.0, static_cast<double>(kBarCells)));
  std::string line =
      fmt::format("{} [{}{}] {}", before, std::string(filled, '#'), std::string(kBarCells - filled, '.'), after);
  line.resize(std::min(line.size(), static_cast<size_t>(std::max(20, TerminalColumns() - 1))));
  PrintProgress("\r\033[K" + WithoutControls(line));
}

void ClearBar() { PrintProgress("\r\033[K"); }

void ProgressPrinter::Update(const TrainProgress& progress) {
  if (!terminal_) {
    return;
  }
  PrintBar(fmt::format("epoch {}/{}", progress.epoch, progress.epochs),
           static_cast<double>(progress.step) / static_cast<double>(std::max<int64_t>(1, progress.steps)),
           fmt::format("{}  {} samples/s  {} left", LossText("loss", progress.mean_loss, progress.accuracy),
                       WithThousands(std::llround(progress.samples_per_second)), DurationText(progress.seconds_left)));
  bar_shown_ = true;
}

void ProgressPrinter::EpochDone(const EpochRecord& record) {
  std::string line =
      fmt::format("epoch {}/{}  {}", record.epoch, epochs_, LossText("loss", record.train_loss, record.train_accuracy));
  if (!std::isnan(record.validation_loss)) {
    line += "  " + LossText("validation", record.validation_loss, record.validation_accuracy);
  }
  pending_ = fmt::format("{}  {} samples/s\n", line, WithThousands(std::llround(record.samples_per_second)));
  if (epochs_ <= kAllLines || record.epoch <= kFirstLines || since_line_.Elapsed_seconds() >= kBetweenLines_seconds) {
    Finish();
  }
}

void ProgressPrinter::Finish() {
  Clear();
  PrintProgress(fmt::format("{}", Lines(std::exchange(pending_, ""))));
  since_line_ = Stopwatch();
}

void ProgressPrinter::Clear() {
  if (bar_shown_) {
    ClearBar();
    bar_shown_ = false;
  }
}

}  // namespace lamina::cli
