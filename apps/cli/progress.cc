// Training as it runs.
#include "progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "lamina/base/text.h"

namespace lamina::cli {
namespace {

constexpr int kBarCells = 20;

int TerminalColumns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string Metric(const char* name, double loss, double accuracy) {
  std::string text = fmt::format("{} {:.5g}", name, loss);
  if (!std::isnan(accuracy)) {
    text += fmt::format(" ({:.2f} %)", 100 * accuracy);
  }
  return text;
}

}  // namespace

std::string DurationText(double seconds) {
  if (seconds < 1) {
    return fmt::format("{:.0f} ms", 1000 * seconds);
  }
  if (seconds < 10) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) {
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void ProgressPrinter::Update(const TrainProgress& progress) {
  if (!terminal_) {
    return;
  }
  const int filled = static_cast<int>(kBarCells * progress.step / std::max<int64_t>(1, progress.steps));
  std::string line = fmt::format(
      "epoch {}/{} [{}{}] {}  {} samples/s  {} left", progress.epoch, progress.epochs,
      std::string(static_cast<size_t>(filled), '#'), std::string(static_cast<size_t>(kBarCells - filled), '.'),
      Metric("loss", progress.mean_loss, progress.accuracy), WithThousands(std::llround(progress.samples_per_second)),
      DurationText(progress.seconds_left));
  line.resize(std::min(line.size(), static_cast<size_t>(std::max(20, TerminalColumns() - 1))));
  fmt::print("\r\033[K{}", line);
  std::fflush(stdout);
  bar_shown_ = true;
}

void ProgressPrinter::EpochDone(const EpochRecord& record) {
  Clear();
  std::string line =
      fmt::format("epoch {}/{}  {}", record.epoch, epochs_, Metric("loss", record.train_loss, record.train_accuracy));
  if (!std::isnan(record.validation_loss)) {
    line += "  " + Metric("validation", record.validation_loss, record.validation_accuracy);
  }
  fmt::print("{}  {} samples/s\n", line, WithThousands(std::llround(record.samples_per_second)));
  std::fflush(stdout);
}

void ProgressPrinter::Clear() {
  if (bar_shown_) {
    fmt::print("\r\033[K");
    std::fflush(stdout);
    bar_shown_ = false;
  }
}

}  // namespace lamina::cli
