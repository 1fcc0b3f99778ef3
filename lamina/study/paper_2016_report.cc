// Tables and figures of the study.
#include "lamina/study/paper_2016_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/utf8.h"
#include "lamina/base/version.h"
#include "lamina/report/report_writer.h"
#include "lamina/study/other_load.h"

namespace lamina {
namespace {

constexpr double kEpochRows = 60'000;
constexpr const char* kScaled = "≈: scaled from fewer steps than an epoch has (their number: measurements.csv).";

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), AsciiLower);
  return text;
}

// "PyTorch, best" -> "pytorch_best".
std::string KeyOf(const std::string& who) {
  std::string key;
  for (const char c : Lower(who)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      key += c;
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  return key;
}

bool WholeEpoch(const TimedTraining& timed) { return static_cast<double>(timed.steps * timed.batch) >= kEpochRows; }

// The timings of one network: who in order of appearance, batch -> timing.
struct Grid {
  Grid(const std::vector<TimedTraining>& timings, const std::string& network) {
    for (const TimedTraining& timed : timings) {
      if (timed.network != network) {
        continue;
      }
      if (std::find(who.begin(), who.end(), timed.who) == who.end()) {
        who.push_back(timed.who);
      }
      cells[timed.batch][timed.who] = &timed;
    }
  }
  std::vector<std::string> who;
  std::map<int64_t, std::map<std::string, const TimedTraining*>> cells;
};

using CellMaker = std::function<ReportCell(const TimedTraining& timed, const TimedTraining* serial)>;

ReportTable GridTable(const Grid& grid, const std::string& id, const std::string& title, const std::string& unit,
                      const CellMaker& make) {
  ReportTable table{id, title, {{"batch", "batch"}}, {}, "", true};
  for (const std::string& who : grid.who) {
    table.columns.push_back({KeyOf(who) + "_" + unit, who});
  }
  for (const auto& [batch, row] : grid.cells) {
    table.rows.push_back({ReportCell::Whole(batch)});
    const auto baseline = row.find("serial");
    const TimedTraining* serial = baseline != row.end() && baseline->second->done() ? baseline->second : nullptr;
    for (const std::string& who : grid.who) {
      const auto found = row.find(who);
      if (found == row.end()) {
        table.rows.back().emplace_back();
      } else if (!found->second->done()) {
        table.rows.back().emplace_back(found->second->reason);
      } else {
        table.rows.back().push_back(make(*found->second, serial));
      }
    }
  }
  return table;
}

std::string Mark(const TimedTraining& timed, const std::string& text) {
  const std::string marked = WholeEpoch(timed) ? text : "≈ " + text;
  return timed.is_peer || timed.verified ? marked : marked + " WRONG";
}

ReportFigure GridFigure(const Grid& grid, const std::string& id, const std::string& title, const std::string& label,
                        double TimedTraining::*value) {
  ReportFigure figure{id, title, "samples of a minibatch", label, {}, true};
  for (const std::string& who : grid.who) {
    ReportSeries series{who, {}, false};
    for (const auto& [batch, row] : grid.cells) {
      const auto found = row.find(who);
      if (found != row.end() && found->second->done() && (found->second->is_peer || found->second->verified)) {
        series.points.emplace_back(static_cast<double>(batch), found->second->*value);
      }
    }
    if (!series.points.empty()) {
      figure.series.push_back(std::move(series));
    }
  }
  return figure;
}

void AddNetwork(const Paper2016Findings& findings, size_t index, Report& report) {
  const auto& [name, shape] = findings.networks[index];
  const Grid grid(findings.timings, name);
  const std::string id = Lower(name);
  const std::string full = fmt::format("{} ({})", name, fmt::join(shape, "-"));
  const size_t figure = 7 + 2 * index;
  ReportTable seconds =
      GridTable(grid, id + "-seconds",
                fmt::format("Fig. {}. Learning time of {}, seconds an epoch of 60,000 samples", figure, full),
                "seconds", [](const TimedTraining& timed, const TimedTraining*) {
                  return ReportCell(timed.seconds, Mark(timed, fmt::format("{:.4g}", timed.seconds)));
                });
  seconds.note = kScaled;
  report.tables.push_back(std::move(seconds));
  ReportTable speedup = GridTable(grid, id + "-speedup", fmt::format("Speed-up of {} over the serial loops", name),
                                  "speedup", [](const TimedTraining& timed, const TimedTraining* serial) {
                                    return serial == nullptr
                                               ? ReportCell("no serial")
                                               : ReportCell(serial->seconds / timed.seconds,
                                                            fmt::format("{:.1f}", serial->seconds / timed.seconds));
                                  });
  const bool has_serial = std::any_of(grid.cells.begin(), grid.cells.end(), [](const auto& row) {
    const auto found = row.second.find("serial");
    return found != row.second.end() && found->second->done();
  });
  if (has_serial) {
    report.tables.push_back(std::move(speedup));
  }
  const double peak = findings.fma_peak_gflops;
  ReportTable gflops = GridTable(
      grid, id + "-gflops",
      fmt::format("Fig. {}. GFLOP/s of {}, and the share of the multiply-add limit", figure + 1, full), "gflops",
      [&](const TimedTraining& timed, const TimedTraining*) {
        return ReportCell(timed.gflops, fmt::format("{:.1f} ({:.0f} %)", timed.gflops, 100 * timed.gflops / peak));
      });
  gflops.note = fmt::format(
      "Operations: 4 w for the first layer and 6 w for the others a sample, w its weights. The limit is that of {} "
      "thread{}, {:.0f} GFLOP/s, measured between the rounds.",
      findings.threads, findings.threads == 1 ? "" : "s", peak);
  report.tables.push_back(std::move(gflops));
  report.figures.push_back(GridFigure(grid, fmt::format("figure-{}", figure),
                                      fmt::format("Fig. {}. Learning time of {}", figure, full),
                                      "seconds an epoch of 60,000 samples", &TimedTraining::seconds));
  report.figures.push_back(GridFigure(grid, fmt::format("figure-{}", figure + 1),
                                      fmt::format("Fig. {}. GFLOP/s of {}", figure + 1, full), "GFLOP/s",
                                      &TimedTraining::gflops));
}

// What a user would take instead, at its best.
void AddRace(const Paper2016Findings& findings, Report& report) {
  ReportTable table{"race",
                    "Backend cpu beside the fastest peer, seconds an epoch of 60,000 samples",
                    {{"network", "network"},
                     {"batch", "batch"},
                     {"cpu_seconds", "lamina"},
                     {"cpu_bf16_seconds", "lamina, bf16"},
                     {"peer", "fastest peer"},
                     {"peer_seconds", "its seconds"},
                     {"ratio", "lamina is"}},
                    {},
                    "",
                    true};
  for (const auto& [network, shape] : findings.networks) {
    for (const auto& [batch, row] : Grid(findings.timings, network).cells) {
      const TimedTraining* fastest = nullptr;
      const auto timing_of = [&](const char* who) -> const TimedTraining* {
        const auto found = row.find(who);
        return found == row.end() || !found->second->done() ? nullptr : found->second;
      };
      for (const auto& [who, timed] : row) {
        if (timed->is_peer && timed->done() && (fastest == nullptr || timed->seconds < fastest->seconds)) {
          fastest = timed;
        }
      }
      const TimedTraining* cpu = timing_of("cpu");
      if (fastest == nullptr || cpu == nullptr) {
        continue;
      }
      const auto cell = [](const TimedTraining* timed) {
        return timed == nullptr ? ReportCell()
                                : ReportCell(timed->seconds, Mark(*timed, fmt::format("{:.3g}", timed->seconds)));
      };
      const double ratio = fastest->seconds / cpu->seconds;
      table.rows.push_back({network, ReportCell::Whole(batch), cell(cpu), cell(timing_of("cpu bf16")), fastest->who,
                            cell(fastest), ReportCell(ratio, fmt::format("{:.1f} x", ratio))});
    }
  }
  if (!table.rows.empty()) {
    report.tables.push_back(std::move(table));
  }
}

void AddThreads(const Paper2016Options& options, const Paper2016Findings& findings, Report& report) {
  ReportTable table{"threads",
                    fmt::format("By the number of threads, batch {}", options.thread_batch),
                    {{"network", "network"},
                     {"backend", "backend"},
                     {"threads", "threads"},
                     {"seconds", "s an epoch"},
                     {"gflops", "GFLOP/s"},
                     {"speedup", "speed-up over 1 thread"}},
                    {},
                    "",
                    true};
  ReportFigure figure{"figure-threads",
                      fmt::format("Learning time by threads, batch {}", options.thread_batch),
                      "threads",
                      "seconds an epoch of 60,000 samples",
                      {},
                      true};
  std::map<std::string, double> single;
  for (const TimedTraining& timed : findings.by_threads) {
    const std::string key = timed.network + ", " + timed.who;
    if (!timed.done()) {
      table.rows.push_back({timed.network, timed.who, ReportCell::Whole(timed.threads), timed.reason, {}, {}});
      continue;
    }
    const double one = single.emplace(key, timed.seconds).first->second;
    table.rows.push_back({timed.network, timed.who, ReportCell::Whole(timed.threads),
                          ReportCell(timed.seconds, Mark(timed, fmt::format("{:.4g}", timed.seconds))), timed.gflops,
                          ReportCell(one / timed.seconds, fmt::format("{:.2f}", one / timed.seconds))});
    if (figure.series.empty() || figure.series.back().name != key) {
      figure.series.push_back({key, {}, false});
    }
    figure.series.back().points.emplace_back(timed.threads, timed.seconds);
  }
  const bool curve = std::any_of(figure.series.begin(), figure.series.end(),
                                 [](const ReportSeries& series) { return series.points.size() > 2; });
  if (curve) {  // two points make no picture
    report.figures.push_back(std::move(figure));
  }
  report.tables.push_back(std::move(table));
}

void AddAccuracy(const Paper2016Options& options, const Paper2016Findings& findings, Report& report) {
  ReportTable table{"accuracy",
                    "Accuracy on the test rows after the same training",
                    {{"network", "network"},
                     {"who", "who"},
                     {"accuracy", "accuracy"},
                     {"difference", "difference from the first backend, percentage points"},
                     {"train_seconds", "seconds of training"}},
                    {},
                    "",
                    true};
  std::map<std::string, double> baseline;
  for (const TrainedAccuracy& each : findings.accuracies) {
    if (!each.is_peer) {
      baseline.emplace(each.network, each.accuracy);
    }
  }
  std::vector<TrainedAccuracy> sorted = findings.accuracies;
  std::stable_sort(sorted.begin(), sorted.end(), [](const TrainedAccuracy& a, const TrainedAccuracy& b) {
    return std::tie(a.network, a.is_peer) < std::tie(b.network, b.is_peer);
  });
  for (const TrainedAccuracy& each : sorted) {
    const auto first = baseline.find(each.network);
    const double difference = first == baseline.end() ? 0 : each.accuracy - first->second;
    const bool wrong = !each.is_peer && std::abs(difference) > kAccuracyTolerance;
    table.rows.push_back(
        {each.network, each.who, ReportCell(each.accuracy, fmt::format("{:.2f} %", 100 * each.accuracy)),
         first == baseline.end()
             ? ReportCell()
             : ReportCell(100 * difference, fmt::format("{:+.2f}{}", 100 * difference, wrong ? " WRONG" : "")),
         each.is_peer ? ReportCell() : ReportCell(each.seconds)});
  }
  table.note = fmt::format(
      "{} epoch{} of {} rows, minibatches of {}, learning rate {:g} of the true gradient ({:g} in the paper's "
      "algorithms, "
      "which drop the factor 2 of the squared error). Backends start from the same weights and take the rows in the "
      "same "
      "order; peers have random numbers of their own.",
      options.accuracy.epochs, options.accuracy.epochs == 1 ? "" : "s", WithThousands(options.accuracy.rows),
      options.accuracy.batch, options.accuracy.learning_rate, 2 * options.accuracy.learning_rate);
  report.tables.push_back(std::move(table));
}

void AddPeers(const Paper2016Findings& findings, Report& report) {
  if (findings.peers.empty()) {
    return;
  }
  ReportTable table{
      "peers", "Peers", {{"library", "library"}, {"settings", "settings"}, {"what", "what was timed, or why not"}},
      {},      "",      true};
  std::string missing;
  for (const PeerResult& peer : findings.peers) {
    table.rows.push_back({peer.library, peer.settings, peer.reason.empty() ? peer.description : "not measured"});
    missing += peer.reason.empty() ? "" : fmt::format(" {}: {}.", peer.library, peer.reason);
  }
  table.note =
      "default: as installed. best: all cores, OpenBLAS told to use AVX-512 where there is some, fused optimizer and "
      "rows put "
      "in order once an epoch (PyTorch). scikit-learn has its own loss and softmax output, libxsmm-dnn ReLU and random "
      "numbers." +
      missing;
  report.tables.push_back(std::move(table));
}

void AddMeasurements(const Paper2016Findings& findings, Report& report) {
  ReportTable table{"measurements",
                    "Every measurement",
                    {{"network", ""},
                     {"who", ""},
                     {"batch", ""},
                     {"threads", ""},
                     {"seconds", ""},
                     {"gflops", ""},
                     {"timed_steps", ""},
                     {"steps_of_an_epoch", ""},
                     {"verified", ""},
                     {"largest_error", ""},
                     {"error_bound", ""},
                     {"description", ""},
                     {"reason", ""}},
                    {},
                    "",
                    false};
  for (const std::vector<TimedTraining>* timings : {&findings.timings, &findings.by_threads}) {
    for (const TimedTraining& timed : *timings) {
      const auto if_done = [&](double value) { return timed.done() ? ReportCell(value) : ReportCell(); };
      const auto if_checked = [&](ReportCell cell) {
        return timed.done() && !timed.is_peer ? std::move(cell) : ReportCell();
      };
      table.rows.push_back({timed.network, timed.who, ReportCell::Whole(timed.batch),
                            if_checked(ReportCell::Whole(timed.threads)), if_done(timed.seconds), if_done(timed.gflops),
                            if_done(static_cast<double>(timed.steps)),
                            if_done(std::floor(kEpochRows / static_cast<double>(timed.batch))),
                            if_checked(timed.verified ? "yes" : "WRONG"), if_checked(timed.largest_error),
                            if_checked(timed.error_bound), timed.description, timed.reason});
    }
  }
  report.tables.push_back(std::move(table));
}

}  // namespace

Report Paper2016Report(const Paper2016Data& data, const Paper2016Options& options, const Paper2016Findings& findings) {
  Report report;
  report.title = "The study of 2016 on this machine";
  report.hardware = fmt::format("{}; lamina {}, {} thread{}", QueryHardware().OneLine(), Version(), findings.threads,
                                findings.threads == 1 ? "" : "s");
  report.introduction = fmt::format(
      "N. Kamra, P. Goyal, S. Seo, V. Zois: *Parallel Backpropagation for Multilayer Neural Networks* (2016), Figures "
      "7 to "
      "10. Sigmoid in every layer, squared error, Glorot-uniform weights, plain gradient descent, f32; minibatches "
      "gathered from {} rows of {}{}. One step of every backend was compared with plain loops in double precision "
      "before it "
      "was timed; times are medians of {} rounds of at least {:.2g} s, all taking turns. The paper prints its figures "
      "without numbers: on 32 cores of 2.6 GHz its serial code takes the same time whatever the batch, and with BLAS "
      "products it is about 10 times as fast.",
      WithThousands(data.train.size()), MarkdownText(data.name),
      data.test ? "" : "; accuracies need real data (--data, or LAMINA_DATA)", options.rounds, options.round_seconds);
  if (const std::string remark = LoadRemark(options.load, QueryHardware().logical_cores); !remark.empty()) {
    report.introduction += " **" + remark + "**";
  }
  for (size_t i = 0; i < findings.networks.size(); ++i) {
    AddNetwork(findings, i, report);
  }
  AddRace(findings, report);
  AddThreads(options, findings, report);
  if (!findings.accuracies.empty()) {
    AddAccuracy(options, findings, report);
  }
  AddPeers(findings, report);
  AddMeasurements(findings, report);
  return report;
}

}  // namespace lamina
