// The study of 2016. Every step is verified, then backends and peers are timed in turns, by batch and by threads.
// Accuracies are measured last. Tables and figures are left to paper_2016_report.cc, peers to train_peers.cc.
#include "lamina/study/paper_2016.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/random.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/files/reader.h"
#include "lamina/measure/issue_limit.h"
#include "lamina/measure/train_timer.h"
#include "lamina/study/paper_2016_report.h"
#include "lamina/train/trainer.h"

namespace lamina {
namespace {

constexpr const char* kInterrupted = "interrupted";

std::vector<int64_t> FirstRows(int64_t count, int64_t most) {
  std::vector<int64_t> rows(static_cast<size_t>(std::min(count, most)));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

Dataset FirstRowsOf(const Dataset& dataset, int64_t rows) {
  Dataset part;
  part.features = Matrix(rows, dataset.features.cols(), DType::kF32);
  part.targets = Matrix(rows, dataset.targets.cols(), DType::kF32);
  std::copy_n(dataset.features.Row<float>(0), rows * dataset.features.cols(), part.features.Row<float>(0));
  std::copy_n(dataset.targets.Row<float>(0), rows * dataset.targets.cols(), part.targets.Row<float>(0));
  part.labels.assign(dataset.labels.begin(), dataset.labels.begin() + rows);
  return part;
}

// 1, 2, ... cores; beyond eight the powers of two and all.
std::vector<int> ThreadCounts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count = most <= 8 ? count + 1 : 2 * count) {
    counts.push_back(count);
  }
  counts.push_back(most);
  return counts;
}

class Study2016 {
 public:
  Study2016(const Paper2016Data& data, const Paper2016Options& options) : data_(data), options_(options) {
    std::vector<int64_t> shape{data.inputs()};
    for (size_t i = 0; i < options.hidden.size(); ++i) {
      shape.push_back(options.hidden[i]);
      std::vector<int64_t> whole = shape;
      whole.push_back(data.outputs());
      findings_.networks.emplace_back(fmt::format("Net-{}h", i + 1), whole);
    }
    findings_.threads = MakeBackend("cpu", {.threads = options.threads})->threads();
    if (options.backends.empty()) {
      for (const BackendRow& row : BackendTable()) {  // the slowest, the baseline, first
        backends_.insert(backends_.begin(), std::string(row.name));
      }
    } else {
      for (const std::string& name : options.backends) {
        MakeBackend(name, {.threads = options.threads});  // throws where it cannot be had
      }
      backends_ = options.backends;
    }
    for (const int64_t batch : options.batches) {
      WholeSteps(CaseOf(0, batch, {}, 1), data.train.size());  // throws
    }
    for (const std::string& name : backends_) {
      contestants_.push_back({name, name});
      if (Available(name) && MakeBackend(name, {})->Supports(Bf16Problem())) {
        contestants_.push_back({name + " bf16", name, Precision::kBFloat16});
      }
    }
  }

  Paper2016Findings Run() {
    for (size_t n = 0; n < findings_.networks.size(); ++n) {
      for (size_t b = 0; b < options_.batches.size() && !Stopped(); ++b) {
        TimeBatch(n, options_.batches[b]);
        AskPeers(n, options_.batches[b], b == 0);
      }
    }
    for (size_t n = 0; n < findings_.networks.size() && !Stopped(); ++n) {
      TimeThreads(n);
    }
    for (size_t n = 0; n < findings_.networks.size() && data_.test; ++n) {
      for (const Contestant& who : contestants_) {
        if (!Stopped()) {
          TrainOn(n, who);
        }
      }
    }
    return std::move(findings_);
  }

 private:
  bool Stopped() {
    findings_.interrupted = findings_.interrupted || (options_.stop_requested && options_.stop_requested());
    return findings_.interrupted;
  }

  // A way to train: a backend in a precision.
  struct Contestant {
    std::string name;
    std::string backend;
    Precision precision = Precision::kExact;
  };

  Problem Bf16Problem() const {
    Problem problem;
    problem.layer = {data_.inputs(), options_.hidden.front(), Synapse::kDot, TrainBenchmarkCase().activation, true};
    problem.pass = Pass::kWeightGradient;
    problem.batch = options_.batches.front();
    problem.precision = Precision::kBFloat16;
    return problem;
  }

  static Verdict Available(const std::string& backend) {
    for (const BackendRow& row : BackendTable()) {
      if (row.name == backend) {
        return row.available();
      }
    }
    return Verdict::Yes();  // MakeBackend has the words for an unknown one
  }

  TrainBenchmarkCase CaseOf(size_t network, int64_t batch, const Contestant& who, int threads) const {
    TrainBenchmarkCase work;
    work.shape = findings_.networks[network].second;
    work.batch = batch;
    work.backend = who.backend;
    work.threads = threads;
    work.precision = who.precision;
    return work;
  }

  // The outputs of a case that any backend can be measured against.
  std::vector<double> Reference(size_t network, int64_t batch) const {
    return TrainReference(CaseOf(network, batch, {}, 1));
  }

  struct Candidate {
    TimedTraining timed;
    std::unique_ptr<TrainTimer> timer;
  };

  Candidate Prepare(size_t network, int64_t batch, const Contestant& who, int threads,
                    const std::vector<double>& reference) {
    Candidate candidate;
    TimedTraining& timed = candidate.timed;
    timed.network = findings_.networks[network].first;
    timed.who = who.name;
    timed.batch = batch;
    const TrainBenchmarkCase work = CaseOf(network, batch, who, threads);
    if (const Verdict available = Available(work.backend); !available) {
      timed.reason = available.reason;
      return candidate;
    }
    TrainBenchmarkResult result;
    options_.verify(work, reference, result);
    timed.verified = result.verified;
    timed.largest_error = result.largest_error;
    timed.error_bound = result.error_bound;
    candidate.timer = std::make_unique<TrainTimer>(work, data_.train);
    timed.threads = candidate.timer->backend().threads();
    timed.description = candidate.timer->backend().Describe();
    return candidate;
  }

  // In turns, so that a busy moment of the machine hits all of them.
  void TimeInTurns(std::vector<Candidate>& candidates, size_t network, std::vector<TimedTraining>& results) {
    for (int round = 0; round < options_.rounds; ++round) {
      for (Candidate& candidate : candidates) {
        if (candidate.timer != nullptr && !Stopped()) {
          candidate.timer->Round(options_.round_seconds);
        }
      }
      MeasurePeak();
    }
    const double flops = TrainFlopsPerSample(findings_.networks[network].second);
    for (Candidate& candidate : candidates) {
      TimedTraining& timed = candidate.timed;
      if (candidate.timer != nullptr && candidate.timer->rounds() > 0) {
        timed.seconds = candidate.timer->Seconds(kBenchmarkRows);
        timed.steps = candidate.timer->steps();
        timed.gflops = 1e-9 * flops * static_cast<double>(kBenchmarkRows) / timed.seconds;
      } else if (timed.reason.empty()) {
        timed.reason = kInterrupted;
      }
      if (options_.timed) {
        options_.timed(timed);
      }
      results.push_back(timed);
    }
  }

  // The limit is what the machine can do when nobody disturbs it: the best of many looks.
  void MeasurePeak() {
    if (!Stopped()) {
      findings_.fma_peak_gflops =
          std::max(findings_.fma_peak_gflops, MeasureFmaPeak_gflops(DType::kF32, findings_.threads));
    }
  }

  void TimeBatch(size_t network, int64_t batch) {
    const std::vector<double> reference = Reference(network, batch);
    std::vector<Candidate> candidates;
    for (const Contestant& who : contestants_) {
      if (!Stopped()) {
        candidates.push_back(Prepare(network, batch, who, options_.threads, reference));
      }
    }
    TimeInTurns(candidates, network, findings_.timings);
  }

  void TimeThreads(size_t network) {
    const std::vector<double> reference = Reference(network, options_.thread_batch);
    for (const std::string& backend : backends_) {
      if (!Available(backend) || MakeBackend(backend, {.threads = 2})->threads() != 2) {
        continue;  // the number of threads is not its to choose
      }
      std::vector<Candidate> candidates;
      for (const int threads : ThreadCounts(findings_.threads)) {
        if (!Stopped()) {
          candidates.push_back(Prepare(network, options_.thread_batch, {backend, backend}, threads, reference));
        }
      }
      TimeInTurns(candidates, network, findings_.by_threads);
    }
  }

  void AskPeers(size_t network, int64_t batch, bool with_accuracy) {
    if (!options_.peers || Stopped()) {
      return;
    }
    PeerRequest request;
    request.shape = findings_.networks[network].second;
    request.batch = batch;
    request.rounds = options_.rounds;
    request.seconds = options_.round_seconds;
    request.threads = findings_.threads;
    if (with_accuracy && data_.test) {
      request.accuracy = options_.accuracy;
    }
    std::vector<PeerResult> results = options_.peers(request);
    if (Stopped()) {
      return;  // a peer that was ended has no result
    }
    for (PeerResult& peer : results) {
      TimedTraining timed;
      timed.network = findings_.networks[network].first;
      timed.who = peer.Name();
      timed.is_peer = true;
      timed.batch = batch;
      timed.reason = peer.reason;
      timed.seconds = peer.seconds;
      timed.steps = peer.steps;
      timed.description = peer.description;
      if (timed.done()) {
        timed.gflops = 1e-9 * TrainFlopsPerSample(request.shape) * static_cast<double>(kBenchmarkRows) / timed.seconds;
      }
      if (options_.timed) {
        options_.timed(timed);
      }
      findings_.timings.push_back(std::move(timed));
      if (peer.accuracy) {
        findings_.accuracies.push_back({findings_.networks[network].first, peer.Name(), true, *peer.accuracy, 0});
      }
      if (network == 0 && with_accuracy) {
        findings_.peers.push_back(std::move(peer));
      }
    }
  }

  // The paper's training: the same start and the same minibatches on every backend.
  void TrainOn(size_t network, const Contestant& who) {
    if (!Available(who.backend)) {
      return;
    }
    Network net = CaseOf(network, options_.accuracy.batch, who, options_.threads).MakeNetwork(DType::kF32);
    const std::unique_ptr<Backend> backend = MakeBackend(who.backend, {.threads = options_.threads});
    TrainOptions train;
    train.epochs = options_.accuracy.epochs;
    train.batch = options_.accuracy.batch;
    train.step.loss = Loss::kMse;
    train.step.precision = who.precision;
    train.rule.learning_rate = options_.accuracy.learning_rate;
    train.step.seed = 1;
    train.keep = Keep::kLast;
    const Dataset rows = FirstRowsOf(data_.train, std::min(options_.accuracy.rows, data_.train.size()));
    TrainCallbacks callbacks;
    callbacks.stop_requested = options_.stop_requested;
    Trainer trainer(net, *backend, train);  // the history is its own
    const History& history = trainer.Run(rows, &*data_.test, callbacks);
    if (history.stop_reason == kInterrupted) {
      findings_.interrupted = true;
      return;
    }
    double seconds = 0;
    for (const EpochRecord& record : history.epochs) {
      seconds += record.train_seconds;
    }
    const std::string& name = findings_.networks[network].first;
    findings_.accuracies.push_back({name, who.name, false, history.epochs.back().validation_accuracy, seconds});
    if (options_.trained) {
      options_.trained(name, who.name, findings_.accuracies.back().accuracy, seconds);
    }
  }

  const Paper2016Data& data_;
  const Paper2016Options& options_;
  std::vector<std::string> backends_;
  std::vector<Contestant> contestants_;
  Paper2016Findings findings_;
};

bool AccuraciesAgree(const std::vector<TrainedAccuracy>& accuracies) {
  std::map<std::string, double> baseline;  // of a network: the first backend's
  for (const TrainedAccuracy& each : accuracies) {
    if (!each.is_peer &&
        std::abs(baseline.emplace(each.network, each.accuracy).first->second - each.accuracy) > kAccuracyTolerance) {
      return false;
    }
  }
  return true;
}

}  // namespace

Paper2016Data LoadPaper2016Data(const std::string& path, int64_t rows) {
  const ReadResult read = ReadData(path);
  if (!read.test || !read.target) {
    throw Error(ErrorCode::kInvalidArgument, "the study needs classes with test rows of their own",
                {.file = path, .remedy = "Name the folder of MNIST's four files (lamina data fetch mnist)."});
  }
  PreprocessOptions options;
  options.targets = {*read.target};
  options.task = Task::kClassification;
  const std::vector<int64_t> chosen = FirstRows(read.train.rows, rows);
  const Preprocessor preprocessor = Preprocessor::Fit(read.train, chosen, options);
  const std::filesystem::path given = std::filesystem::absolute(path).lexically_normal();
  const std::filesystem::path name = given.has_filename() ? given.filename() : given.parent_path().filename();
  return {name.string(), BoundTable(preprocessor, read.train).Encode(chosen, DType::kF32),
          BoundTable(preprocessor, *read.test).Encode(FirstRows(read.test->rows, read.test->rows), DType::kF32)};
}

Paper2016Data RandomPaper2016Data(int64_t rows) {
  constexpr int64_t kInputs = 784;
  constexpr int64_t kOutputs = 10;
  Paper2016Data data{"random numbers in the shape of MNIST (784 inputs, 10 classes)", {}, std::nullopt};
  data.train.features = Matrix(rows, kInputs, DType::kF32);
  data.train.targets = Matrix(rows, kOutputs, DType::kF32);
  Random random(3);
  for (int64_t i = 0; i < rows; ++i) {
    float* x = data.train.features.Row<float>(i);
    std::generate_n(x, kInputs, [&] { return static_cast<float>(random.Uniform()); });
    data.train.labels.push_back(static_cast<int32_t>(random.Below(kOutputs)));
    data.train.targets.Row<float>(i)[data.train.labels.back()] = 1;
  }
  return data;
}

Paper2016Result RunPaper2016(const Paper2016Data& data, const Paper2016Options& options) {
  const Paper2016Findings findings = Study2016(data, options).Run();
  Paper2016Result result;
  result.interrupted = findings.interrupted;
  result.all_verified = AccuraciesAgree(findings.accuracies);
  for (const std::vector<TimedTraining>* timings : {&findings.timings, &findings.by_threads}) {
    for (const TimedTraining& timed : *timings) {
      result.all_verified = result.all_verified && (timed.is_peer || !timed.done() || timed.verified);
    }
  }
  result.report = Paper2016Report(data, options, findings);
  return result;
}

}  // namespace lamina
