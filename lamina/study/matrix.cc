// The tables of the matrix, measured row by row.
#include "lamina/study/matrix.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "lamina/study/train_peers.h"

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
    Answers();
    Limits();
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
    ReportTable peers{.id = "peers",
                      .title = "Training: the peers that are installed, on random inputs",
                      .columns = {{"network", "Network"},
                                  {"batch", "Batch"},
                                  {"peer", "Peer"},
                                  {"settings", "Settings"},
                                  {"s_all", "s, all threads"},
                                  {"times_lamina", "Times as long as lamina"}}};
    for (const std::vector<int64_t>& net : options_.nets) {
      const bool fits = inputs_ != nullptr && inputs_->cols() == net.front();
      if (inputs_ != nullptr && !fits) {
        Say(fmt::format("{} has {} inputs: left out for networks of {}", options_.data, inputs_->cols(), net.front()));
      }
      for (const int64_t batch : options_.batches) {
        double random_seconds = 0;
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
          const std::string from = source == 0 ? "random" : options_.data;
          table.rows.push_back({work.ShapeText(), ReportCell::Whole(batch), from, seconds[0], all, seconds[0] / all,
                                100 * share, Verified(verified)});
          Say(fmt::format("{}, batch {}, {}: {:.4g} s, {:.0f} % of the peak", work.ShapeText(), batch, from, all,
                          100 * share));
          random_seconds = source == 0 ? all : random_seconds;
        }
        if (options_.peers && !Stopped()) {
          AddPeers(net, batch, random_seconds, peers);
        }
      }
    }
    result_.report.tables.push_back(std::move(table));
    if (options_.peers) {
      result_.report.tables.push_back(std::move(peers));
    }
  }

  void AddPeers(const std::vector<int64_t>& net, int64_t batch, double lamina_seconds, ReportTable& peers) {
    const std::string script = FindPeerScript();
    if (peer_data_ == nullptr || peer_inputs_ != net.front()) {
      peer_inputs_ = net.front();
      peer_data_ = std::make_unique<PeerData>(RandomRows(net.front(), net.back()), nullptr);
    }
    const TrainBenchmarkCase work{.shape = net};
    for (const PeerResult& peer : MeasurePeers(script,
                                               {.shape = net,
                                               .batch = batch,
                                               .rounds = options_.rounds,
                                               .seconds = options_.round_seconds,
                                               .threads = threads_},
                                               *peer_data_, options_.stop_requested)) {
      const bool timed = peer.reason.empty();
      peers.rows.push_back({work.ShapeText(), ReportCell::Whole(batch),
                            peer.description.empty() ? peer.library : peer.description, peer.settings,
                            timed ? ReportCell(peer.seconds) : ReportCell(peer.reason),
                            timed ? ReportCell(peer.seconds / lamina_seconds) : ReportCell()});
      Say(fmt::format("{}, batch {}, {}: {}", work.ShapeText(), batch, peer.Name(),
                      timed ? fmt::format("{:.4g} s", peer.seconds) : peer.reason));
    }
  }

  static Dataset RandomRows(int64_t inputs, int64_t classes) {
    Dataset rows;
    rows.features = Matrix(kBenchmarkRows, inputs, DType::kF32);
    rows.labels.resize(kBenchmarkRows);
    Random random(1);
    std::generate_n(rows.features.Row<float>(0), kBenchmarkRows * inputs,
                    [&] { return static_cast<float>(random.Uniform()); });
    std::generate(rows.labels.begin(), rows.labels.end(),
                  [&] { return static_cast<int32_t>(random.Below(static_cast<uint64_t>(classes))); });
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
    for (const double zeros : {0.0, kSparse}) {
      for (const WeightStorage weights : options_.weights) {
        if (Stopped() || options_.nets.empty()) {
          break;
        }
        PredictBenchmarkCase work{.shape = options_.nets.front(), .weights = weights, .zeros = zeros};
        const PredictBenchmarkResult found =
            BenchmarkPrediction(work, {.seconds = options_.rounds * options_.round_seconds});
        table.rows.push_back({work.ShapeText(), std::string(WeightStorageName(weights)), 100 * zeros,
                              1e6 * found.median_seconds, 1e6 * found.p99_seconds, Verified(found.verified)});
        Say(fmt::format("{}, weights {}, {:.0f} % zeros: {:.4g} us", work.ShapeText(), WeightStorageName(weights),
                        100 * zeros, 1e6 * found.median_seconds));
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
  std::unique_ptr<PeerData> peer_data_;
  int64_t peer_inputs_ = 0;
};

std::vector<Problem> Problems(std::initializer_list<const char*> texts) {
  std::vector<Problem> problems;
  std::transform(texts.begin(), texts.end(), std::back_inserter(problems),
                 [](const char* text) { return Problem::Parse(text); });
  return problems;
}

}  // namespace

MatrixOptions MatrixOptions::Usual() {
  return {.layers =
              Problems({"dot-tanh:f32:forward:1x1024x784", "dot-tanh:f32:forward:16x1024x784",
                        "dot-tanh:f32:forward:128x1024x784", "dot-tanh:f32:forward:1024x1024x784",
                        "dot-tanh:f32:input_gradient:16x1024x784", "dot-tanh:f32:input_gradient:128x1024x784",
                        "dot-tanh:f32:weight_gradient:16x1024x784", "dot-tanh:f32:weight_gradient:128x1024x784",
                        "dot-tanh:f32:weight_gradient:1024x1024x784", "dot-tanh:f32:forward:4095x4097x1023",
                        "dot-tanh:f32:forward:17x100003x65", "dot-tanh:bf16:forward:1024x1024x784",
                        "l1-triangle:f32:forward:1024x1024x784", "l1-triangle:f32-fast:forward:1024x1024x784",
                        "l1-triangle:f32:input_gradient:1024x1024x784", "l1-triangle:f32:weight_gradient:1024x1024x784",
                        "l1-triangle:u8:forward:1024x1024x784", "l1-triangle:f64:forward:1024x1024x784"}),
          .nets = {{784, 1024, 10}, {784, 1024, 1024, 10}},
          .batches = {16, 128, 1024, 4096},
          .weights = {WeightStorage::kExact, WeightStorage::kBF16, WeightStorage::kI8}};
}

MatrixOptions MatrixOptions::Quick() {
  MatrixOptions quick;
  quick.layers = Problems({"dot-tanh:f32:forward:128x256x256", "l1-triangle:f32:forward:128x256x256"});
  quick.nets = {{64, 128, 10}};
  quick.batches = {16, 128};
  quick.weights = {WeightStorage::kExact, WeightStorage::kI8};
  quick.rounds = 3;
  quick.round_seconds = 0.02;
  return quick;
}

MatrixResult MeasureMatrix(const MatrixOptions& options) { return MatrixRun(options).Measure(); }

}  // namespace lamina
