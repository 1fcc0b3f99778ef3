// The tables of the matrix, measured row by row: layers, training, steps, answers, starts, limits. Results are verified
// before they are timed, and peers run in turns with lamina. Measuring is left to lamina/measure, peers to
// matrix_peers.cc, printing to the caller.
#include "lamina/study/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "lamina/backend/backends.h"
#include "lamina/base/hardware.h"
#include "lamina/base/random.h"
#include "lamina/base/version.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/layer_benchmark.h"
#include "lamina/measure/memory_bandwidth.h"
#include "lamina/measure/predict_benchmark.h"
#include "lamina/measure/train_benchmark.h"
#include "lamina/measure/train_timer.h"
#include "lamina/study/matrix_peers.h"
#include "lamina/study/matrix_start.h"
#include "lamina/tune/pass_run.h"

namespace lamina {
namespace {

constexpr double kSparse = 0.8;  // of the inputs of the sparse rows are zero, as in MNIST

/// One MeasureMatrix().
class MatrixRun {
 public:
  explicit MatrixRun(const MatrixOptions& options)
      : options_(options),
        inputs_(options.data.empty() ? nullptr : BenchmarkInputs(options.data)),
        threads_(options.threads > 0 ? options.threads : UsableCores()) {
    StartPeers(threads_);
    thread_counts_ = threads_ > 1 ? std::vector<int>{1, threads_} : std::vector<int>{1};
  }

  MatrixResult Measure() {
    Report& report = result_.report;
    report.title = "What this machine does";
    report.hardware = fmt::format("{}; lamina {}, {} thread{}", QueryHardware().OneLine(), Version(), threads_,
                                  threads_ == 1 ? "" : "s");
    report.introduction = fmt::format(
        "Every result was compared with plain loops in double precision before it was timed: \"yes\" below. Medians of "
        "{} "
        "rounds on backend cpu, f32 where nothing else is said; one thread and all are measured one after the other, "
        "and "
        "limits beside every row (their best counts). \"Gain\" is what the threads bring over one.",
        options_.rounds);
    result_.all_verified = true;
    Layers();
    Training();
    Steps();
    Answers();
    Starts();
    Limits();
    if (peers_ != nullptr) {
      report.tables.push_back(std::move(races_));
    }
    return std::move(result_);
  }

 private:
  bool Stopped() {
    result_.interrupted = result_.interrupted || (options_.stop_requested && options_.stop_requested());
    return result_.interrupted;
  }
  void Say(const std::string& line) const {
    if (options_.measured) {
      options_.measured(line);
    }
  }
  ReportCell Verified(bool verified) {
    result_.all_verified = result_.all_verified && verified;
    return verified ? "yes" : "WRONG";
  }
  // The best seen so far of a limit on so many threads.
  double SynapseLimit(const SynapseKind& kind, int threads) {
    double& limit = limits_[{kind, threads}];
    return limit = std::max(limit, MeasureSynapseLimit(kind, threads));
  }

  void Layers() {
    ReportTable table{.id = "layers",
                      .title = "One pass of one layer",
                      .columns = {{"problem", "Problem"},
                                  {"ms_one", "ms, one thread"},
                                  {"ms_all", "ms, all"},
                                  {"gain", "Gain"},
                                  {"share_of_limit", "Share of the limit, %"},
                                  {"verified", "Verified"}},
                      .note = "The limit is what the threads issue of the synapse's arithmetic in registers."};
    for (const Problem& problem : options_.layers) {
      if (Stopped()) {
        break;
      }
      double seconds[2] = {};
      bool verified = true;
      double share = 0;
      for (size_t i = 0; i < thread_counts_.size(); ++i) {
        const LayerBenchmarkResult found = BenchmarkLayer(problem, {.backend = "cpu",
                                                                    .threads = thread_counts_[i],
                                                                    .rounds = options_.rounds,
                                                                    .round_seconds = options_.round_seconds});
        seconds[i] = found.median_seconds;
        verified = verified && found.verified;
        share = found.synapses_per_second /
                SynapseLimit({problem.layer.synapse, problem.dtype, problem.precision}, thread_counts_[i]);
      }
      const double all = seconds[thread_counts_.size() - 1];
      table.rows.push_back(
          {problem.Text(), 1e3 * seconds[0], 1e3 * all, seconds[0] / all, 100 * share, Verified(verified)});
      Say(fmt::format("{}: {:.4g} ms, {:.0f} % of the limit", problem.Text(), 1e3 * all, 100 * share));
      RaceLayer(problem);
    }
    result_.report.tables.push_back(std::move(table));
  }

  void Training() {
    ReportTable table{
        .id = "training",
        .title = "Training: seconds for 60,000 samples (sigmoid, plain SGD)",
        .columns = {{"network", "Network"},
                    {"batch", "Batch"},
                    {"inputs", "Inputs"},
                    {"s_one", "s, one thread"},
                    {"s_all", "s, all"},
                    {"gain", "Gain"},
                    {"share_of_peak", "Share of the FMA peak, %"},
                    {"verified", "Verified"}},
        .note =
            "Zero inputs are left out of the sums but counted in the share: above 100 % the arithmetic of "
            "dense data would not have been possible."};
    for (const std::vector<int64_t>& net : options_.nets) {
      const bool fits = inputs_ != nullptr && inputs_->cols() == net.front();
      if (inputs_ != nullptr && !fits) {
        Say(fmt::format("{} has {} inputs: left out for networks of {}", options_.data, inputs_->cols(), net.front()));
      }
      for (const int64_t batch : options_.batches) {
        for (int source = 0; source < (fits ? 2 : 1) && !Stopped(); ++source) {
          TrainBenchmarkCase work{.shape = net, .batch = batch, .inputs = source == 0 ? nullptr : inputs_};
          double seconds[2] = {};
          double share = 0;
          bool verified = true;
          for (size_t i = 0; i < thread_counts_.size(); ++i) {
            work.threads = thread_counts_[i];
            const TrainBenchmarkResult found =
                BenchmarkTraining(work, {.rounds = options_.rounds, .round_seconds = options_.round_seconds});
            seconds[i] = found.median_seconds;
            verified = verified && found.verified;
            share = found.gflops * 1e9 / 2 / SynapseLimit({}, thread_counts_[i]);
          }
          const double all = seconds[thread_counts_.size() - 1];
          const std::string from = source == 0 ? "random" : std::filesystem::path(options_.data).filename().string();
          table.rows.push_back({work.ShapeText(), ReportCell::Whole(batch), from, seconds[0], all, seconds[0] / all,
                                100 * share, Verified(verified)});
          Say(fmt::format("{}, batch {}, {}: {:.4g} s, {:.0f} % of the peak", work.ShapeText(), batch, from, all,
                          100 * share));
        }
        RaceTraining(net, batch);
      }
    }
    result_.report.tables.push_back(std::move(table));
  }

  void Steps() {
    ReportTable table{.id = "steps",
                      .title = "Training steps of named networks (Adam)",
                      .columns = {{"step", "Step"},
                                  {"network", "Network"},
                                  {"batch", "Batch"},
                                  {"us_one", "us, one thread"},
                                  {"us_all", "us, all"},
                                  {"gain", "Gain"},
                                  {"share_of_peak", "Share of the FMA peak, %"},
                                  {"verified", "Verified"}}};
    for (const MatrixStep& step : options_.steps) {
      if (Stopped()) {
        break;
      }
      TrainBenchmarkCase work = step.work;
      double microseconds[2] = {};
      double share = 0;
      bool verified = true;
      for (size_t i = 0; i < thread_counts_.size(); ++i) {
        work.threads = thread_counts_[i];
        const TrainBenchmarkResult found =
            BenchmarkTraining(work, {.rounds = options_.rounds, .round_seconds = options_.round_seconds});
        microseconds[i] = 1e6 * static_cast<double>(work.batch) / found.samples_per_second;
        verified = verified && found.verified;
        share = found.gflops * 1e9 / 2 / SynapseLimit({Synapse::kDot, work.dtype}, thread_counts_[i]);
      }
      const double all = microseconds[thread_counts_.size() - 1];
      table.rows.push_back({step.name, work.ShapeText(), ReportCell::Whole(work.batch), microseconds[0], all,
                            microseconds[0] / all, 100 * share, Verified(verified)});
      Say(fmt::format("{}, {}, batch {}: {:.4g} us, {:.0f} % of the peak", step.name, work.ShapeText(), work.batch, all,
                      100 * share));
      if (step.raced) {
        RaceStep(step);
      }
    }
    result_.report.tables.push_back(std::move(table));
  }

  void Starts() {
    if (options_.program.empty() || Stopped()) {
      return;
    }
    ReportTable table{
        .id = "start",
        .title = "A program from its start to its end",
        .columns = {
            {"program", "Program"}, {"median_ms", "Median, ms"}, {"least_ms", "Least, ms"}, {"verified", "Verified"}}};
    for (const ProgramStart& start : MeasureStarts(options_.program, 4 * options_.rounds, options_.stop_requested)) {
      table.rows.push_back(
          {start.what, 1e3 * start.median_seconds, 1e3 * start.least_seconds, Verified(start.verified)});
      Say(fmt::format("{}: {:.3g} ms from start to end", start.what, 1e3 * start.median_seconds));
    }
    result_.report.tables.push_back(std::move(table));
  }

  // Libraries keep the threads that they started with.
  void StartPeers(int threads) {
    if (!options_.peer_python.empty()) {
      peers_ = std::make_unique<MatrixPeers>(options_.peer_python, FindMatrixPeers(), threads, options_.stop_requested);
    }
  }

  // The peers beside lamina, in the same turns.
  void Race(const std::string& title, const std::string& work, const std::function<double()>& lamina) {
    if (peers_ == nullptr || Stopped()) {
      return;
    }
    for (const PeerTimes& peer : peers_->Race(work, lamina, options_.rounds, options_.round_seconds)) {
      const bool timed = peer.reason.empty();
      races_.rows.push_back({title, peer.peer, timed ? ReportCell(1e3 * peer.lamina_seconds) : ReportCell(),
                             timed ? ReportCell(1e3 * peer.seconds) : ReportCell(peer.reason),
                             timed ? ReportCell(peer.times_as_long) : ReportCell()});
      Say(fmt::format("{}: {}: {}", title, peer.peer,
                      timed ? fmt::format("{:.3g} times as long", peer.times_as_long) : peer.reason));
    }
  }
  void RaceLayer(const Problem& problem) {
    if (peers_ != nullptr) {
      const std::unique_ptr<Backend> backend = MakeBackend("cpu", {.threads = threads_});
      PassRun run(problem, *backend);
      Race(problem.Text(), MatrixPeers::Layer(problem), [&] { return run.SecondsPerCall(options_.round_seconds); });
    }
  }
  void RaceTraining(const std::vector<int64_t>& net, int64_t batch) {
    if (peers_ != nullptr && !Stopped()) {
      const TrainBenchmarkCase work{.shape = net, .batch = batch, .threads = threads_};
      const Dataset rows = RandomRows(net.front(), net.back());
      TrainTimer timer(work, rows);
      Race(fmt::format("training {}, batch {}, 60,000 samples", work.ShapeText(), batch),
           MatrixPeers::Training(net, batch), [&] { return timer.Round(options_.round_seconds) * kBenchmarkRows; });
    }
  }
  void RaceStep(const MatrixStep& step) {
    if (peers_ != nullptr && !Stopped()) {
      TrainBenchmarkCase work = step.work;
      work.threads = threads_;
      const Dataset rows = RandomRows(work.shape.front(), work.shape.back(), work.dtype);
      TrainTimer timer(work, rows);
      Race(fmt::format("{}, {}, a step of {} rows", step.name, work.ShapeText(), work.batch), PeerStep(work),
           [&] { return timer.Round(options_.round_seconds) * static_cast<double>(work.batch); });
    }
  }
  void RaceRow(const std::vector<int64_t>& net) {
    const PredictBenchmarkCase work{.shape = net};
    Race(fmt::format("one row, {}, one thread", work.ShapeText()), MatrixPeers::Row(net),
         [&] { return BenchmarkPrediction(work, {.seconds = options_.round_seconds}).median_seconds; });
  }

  static Dataset RandomRows(int64_t inputs, int64_t classes, DType dtype = DType::kF32) {
    Dataset rows;
    rows.features = Matrix(kBenchmarkRows, inputs, dtype);
    rows.targets = Matrix(kBenchmarkRows, classes, dtype);
    Random random(1);
    DispatchFloat(dtype, [&]<class T>(T) {
      for (int64_t i = 0; i < kBenchmarkRows; ++i) {
        std::generate_n(rows.features.Row<T>(i), inputs, [&] { return static_cast<T>(random.Uniform()); });
        rows.targets.Row<T>(i)[random.Below(static_cast<uint64_t>(classes))] = 1;
      }
    });
    return rows;
  }

  void Answers() {
    ReportTable table{.id = "answers",
                      .title = "One row on one thread (Predictor)",
                      .columns = {{"network", "Network"},
                                  {"weights", "Weights"},
                                  {"zeros", "Zero inputs, %"},
                                  {"median_us", "Median, us"},
                                  {"p99_us", "99 %, us"},
                                  {"verified", "Verified"}}};
    StartPeers(1);
    for (const std::vector<int64_t>& net : options_.rows) {
      RaceRow(net);
      for (const double zeros : {0.0, kSparse}) {
        for (const WeightStorage weights : options_.weights) {
          if (Stopped()) {
            break;
          }
          const PredictBenchmarkCase work{.shape = net, .weights = weights, .zeros = zeros};
          const PredictBenchmarkResult found =
              BenchmarkPrediction(work, {.seconds = options_.rounds * options_.round_seconds});
          table.rows.push_back({work.ShapeText(), std::string(WeightStorageName(weights)), 100 * zeros,
                                1e6 * found.median_seconds, 1e6 * found.p99_seconds, Verified(found.verified)});
          Say(fmt::format("{}, weights {}, {:.0f} % zeros: {:.4g} us", work.ShapeText(), WeightStorageName(weights),
                          100 * zeros, 1e6 * found.median_seconds));
        }
      }
    }
    result_.report.tables.push_back(std::move(table));
  }

  void Limits() {
    ReportTable table{.id = "limits",
                      .title = "Limits measured beside the rows above",
                      .columns = {{"what", "What"}, {"threads", "Threads"}, {"per_second", "Per second"}}};
    for (const auto& [key, limit] : limits_) {
      const auto& [kind, threads] = key;
      table.rows.push_back({fmt::format("{} of {}{} in registers, synapses", SynapseName(kind.synapse),
                                        DTypeName(kind.dtype), kind.precision == Precision::kExact ? "" : " (fast)"),
                            ReportCell::Whole(threads), limit});
    }
    const HardwareInfo hardware = QueryHardware();
    for (const auto& [name, size_bytes] :
         {std::pair<const char*, int64_t>{"second-level cache, bytes read", hardware.l2_bytes / 2},
          {"third-level cache, bytes read", std::min<int64_t>(hardware.l3_bytes / 2, int64_t{4} << 20)}}) {
      if (size_bytes > 0 && !Stopped()) {
        table.rows.push_back({name, ReportCell::Whole(1), MeasureCacheRead_bytes_per_second(size_bytes, 1)});
      }
    }
    result_.report.tables.push_back(std::move(table));
  }

  const MatrixOptions& options_;
  std::shared_ptr<const Matrix> inputs_;  // of the data, read before anything is measured; null: none
  int threads_;
  std::vector<int> thread_counts_;
  MatrixResult result_;
  std::map<std::pair<SynapseKind, int>, double> limits_;
  std::unique_ptr<MatrixPeers> peers_;  // null: nobody is raced
  ReportTable races_{.id = "peers",
                     .title = "Beside the other libraries that are installed",
                     .columns = {{"work", "Work"},
                                 {"peer", "Peer"},
                                 {"lamina_ms", "lamina, ms"},
                                 {"peer_ms", "Peer, ms"},
                                 {"times_as_long", "Times as long as lamina"}},
                     .note =
                         "Everybody takes turns on the same kind of random numbers, all threads where nothing else "
                         "is said; the last column is the median of each turn's own ratio. Peers' results are "
                         "compared with double precision before they are timed."};
};

}  // namespace

MatrixResult MeasureMatrix(const MatrixOptions& options) { return MatrixRun(options).Measure(); }

}  // namespace lamina
