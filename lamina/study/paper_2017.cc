// The study of 2017, table by table and figure by figure, with the paper's numbers beside them. A layer is verified and
// timed once, whichever table asks first (LayerTimer). Sweeps are left to layer_sweep.cc, classifiers to
// paper_2017_classifiers.cc.
#include "lamina/study/paper_2017.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/study/layer_sweep.h"
#include "lamina/study/paper_2017_classifiers.h"
#include "lamina/study/paper_2017_values.h"

namespace lamina {
namespace {

constexpr int64_t kMnistInputs = 784;
constexpr const char* kEstimated = "≈: estimated from a slice of the samples, which all cost the same.";

struct Study2017 {
  const Paper2017Options& options;
  LayerTimer timer;
  std::unique_ptr<Backend> backend;
  std::string name;  // of the backend

  Problem Rbf(int64_t n, DType dtype) const {
    return RbfProblem(options.sizes.LayerFor(n), options.sizes.LayerFor(n), n, dtype);
  }
  Problem Mul(int64_t n, DType dtype) const {
    return MulProblem(options.sizes.LayerFor(n), options.sizes.LayerFor(n), n, dtype);
  }
};

// The number, how sure it is, or why there is none.
ReportCell CellOf(const TimedLayer& layer, double value) {
  if (!layer.done()) {
    return layer.reason;
  }
  if (!layer.verified) {
    return {value, "WRONG"};
  }
  return {value, fmt::format("{}{:.4g}", layer.estimated() ? "≈ " : "", value)};
}
ReportCell SecondsCell(const TimedLayer& layer) { return CellOf(layer, layer.seconds); }
ReportCell SynapseCell(const TimedLayer& layer) { return CellOf(layer, layer.t_syn_ns); }

ReportCell RatioCell(const TimedLayer& slow, const TimedLayer& fast) {
  if (!slow.done() || !fast.done()) {
    return slow.done() ? fast.reason : slow.reason;
  }
  const double ratio = slow.t_syn_ns / fast.t_syn_ns;
  return {ratio, fmt::format("{}{:.4g}", slow.estimated() || fast.estimated() ? "≈ " : "", ratio)};
}

ReportCell PaperCell(double value) { return value > 0 ? ReportCell(value) : ReportCell(); }

// Seconds to hand weights, samples and outputs to the backend's memory: the paper's transfer of all three matrices.
double TransferSeconds(const Backend& backend, const Problem& problem) {
  const auto size_bytes = static_cast<int64_t>(LayerMemory_bytes(problem));
  const AlignedBuffer host(size_bytes);
  const std::unique_ptr<Buffer> device = backend.Allocate(size_bytes);
  std::array<double, 3> seconds{};
  for (double& each : seconds) {
    const Stopwatch watch;
    backend.Upload(device->data(), host.data(), size_bytes);
    each = watch.Elapsed_seconds();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[1];
}

void AddFigure4(Study2017& study, Report& report) {
  const int64_t n = study.options.sizes.figure4_inputs;
  const int64_t m = study.options.sizes.LayerFor(n);
  const HardwareInfo hardware = QueryHardware();
  ReportTable table{"figure-4",
                    "Fig. 4. One layer, the fast way and the plain way",
                    {{"quantity", ""}, {"paper_f64", "paper, f64"}, {"f64", "f64"}, {"f32", "f32"}},
                    {},
                    "",
                    true};
  table.columns[2].title = study.name + ", f64";
  table.columns[3].title = study.name + ", f32";
  const auto row = [&](const char* quantity, ReportCell paper, const std::function<ReportCell(DType)>& cell) {
    table.rows.push_back({quantity, std::move(paper), cell(DType::kF64), cell(DType::kF32)});
  };
  const auto time = [&](bool rbf, DType dtype, const std::string& backend) -> const TimedLayer& {
    return study.timer.Time(rbf ? study.Rbf(n, dtype) : study.Mul(n, dtype), backend);
  };
  row("transfer of weights, samples and outputs, s", 0.172,
      [&](DType dtype) { return ReportCell(TransferSeconds(*study.backend, study.Rbf(n, dtype))); });
  row("RBF layer, s", 2.34, [&](DType dtype) { return SecondsCell(time(true, dtype, study.name)); });
  row("MUL layer, s", 1.513, [&](DType dtype) { return SecondsCell(time(false, dtype, study.name)); });
  row("RBF layer on one plain thread, s", 580.664,
      [&](DType dtype) { return SecondsCell(time(true, dtype, "serial")); });
  row("MUL layer on one plain thread, s", 583.741,
      [&](DType dtype) { return SecondsCell(time(false, dtype, "serial")); });
  const auto error = [&](const TimedLayer& layer) {
    return layer.done() && layer.verified ? ReportCell(layer.largest_error) : CellOf(layer, layer.largest_error);
  };
  row("error (RBF)", ReportCell(0.0, "0.000000"), [&](DType dtype) { return error(time(true, dtype, study.name)); });
  row("error (MUL)", ReportCell(0.0, "0.000000"), [&](DType dtype) { return error(time(false, dtype, study.name)); });
  row("acceleration (RBF)", 248.146992,
      [&](DType dtype) { return RatioCell(time(true, dtype, "serial"), time(true, dtype, study.name)); });
  row("acceleration (MUL)", 385.816917,
      [&](DType dtype) { return RatioCell(time(false, dtype, "serial"), time(false, dtype, study.name)); });
  row("memory by eq. (4), GB", 0.201327,
      [&](DType dtype) { return ReportCell(1e-9 * LayerMemory_bytes(study.Rbf(n, dtype))); });
  row("As m N n", "1 4096 4096 1024", [&](DType) { return ReportCell(fmt::format("1 {0} {0} {1}", m, n)); });
  row("running on", "GeForce GTX 750, compute capability 5.0",
      [&](DType) { return ReportCell(study.backend->Describe()); });
  row("multiprocessors (cores)", 4.0, [&](DType) { return ReportCell(hardware.physical_cores); });
  row("cores (threads used)", 512.0, [&](DType) { return ReportCell(study.backend->threads()); });
  table.note = fmt::format(
      "The error is the largest difference from plain loops in double precision, relative to the largest value; the "
      "paper gives "
      "the absolute one to six places. {} The transfer is a copy in memory where the backend computes on the "
      "processor, which "
      "then needs none.",
      kEstimated);
  report.tables.push_back(std::move(table));
}

void AddSweep(Study2017& study, Report& report) {
  SweepRequest request{study.options.sizes.sweep_sizes, study.options.sizes.sweep_blocks, kMnistInputs, DType::kF64,
                       study.name};
  const std::vector<SweepCell> cells = SweepLayers(request, study.timer);
  ReportTable one = SweepTable(cells, /*speedup=*/true);
  one.id = "table-1";
  one.title = fmt::format("Table I. Speed-up of RBF layers over one plain thread, n = {}, f64, backend {}",
                          kMnistInputs, study.name);
  one.note =
      "B is the number of samples of one call; the layer of M neurons answers M samples in M / B calls. Cells without "
      "a "
      "number say why (the paper prints stars). Paper: GeForce 820M over Numba's @jit on the same PC.";
  ReportTable two = SweepTable(cells, /*speedup=*/false);
  two.id = "table-2";
  two.title = fmt::format("Table II. Seconds of (RBF, MUL) layers, n = {}, f64, backend {}", kMnistInputs, study.name);
  two.note = "Paper: GeForce GTX 750.";
  ReportTable flat = SweepList(cells);
  for (ReportTable* table : {&one, &two, &flat}) {
    report.tables.push_back(std::move(*table));
  }
}

void AddTable3(Study2017& study, Report& report) {
  ReportTable table{"table-3",
                    fmt::format("Table III. RBF layers by the number of inputs, backend {}", study.name),
                    {{"n", "n"},
                     {"m", "M"},
                     {"seconds_f64", "s, f64"},
                     {"t_syn_ns_f64", "t_syn ns, f64"},
                     {"seconds_f32", "s, f32"},
                     {"t_syn_ns_f32", "t_syn ns, f32"},
                     {"paper_m", "paper M"},
                     {"paper_seconds", "paper s"},
                     {"paper_t_syn_ns", "paper t_syn ns"}},
                    {},
                    "t_syn = t / (n M²): the time of one synapse. Paper: GeForce GTX 750, f64.",
                    true};
  for (const PaperTable3Row& printed : kPaperTable3) {
    const TimedLayer& twice = study.timer.Time(study.Rbf(printed.n, DType::kF64), study.name);
    const TimedLayer& single = study.timer.Time(study.Rbf(printed.n, DType::kF32), study.name);
    const auto whole = [](int64_t value) { return ReportCell(static_cast<double>(value), fmt::format("{}", value)); };
    table.rows.push_back({whole(printed.n), whole(study.options.sizes.LayerFor(printed.n)), SecondsCell(twice),
                          SynapseCell(twice), SecondsCell(single), SynapseCell(single), whole(printed.m),
                          printed.seconds, printed.t_syn_ns});
  }
  report.tables.push_back(std::move(table));
}

void AddCurve(Study2017& study, ReportFigure& figure, bool rbf, DType dtype, const std::string& backend) {
  ReportSeries series{fmt::format("{}, {}", backend, DTypeName(dtype)), {}, false};
  for (const int64_t n : study.options.sizes.inputs) {
    const TimedLayer& layer = study.timer.Time(rbf ? study.Rbf(n, dtype) : study.Mul(n, dtype), backend);
    if (layer.done()) {
      series.points.emplace_back(static_cast<double>(n), layer.t_syn_ns);
    } else {
      series.name += fmt::format(" (n = {}: {})", n, layer.reason);
      break;  // what cannot be done at one size cannot at the next
    }
  }
  figure.series.push_back(std::move(series));
}

void AddFigures(Study2017& study, Report& report) {
  const auto figure = [&](const char* id, std::string title) {
    return ReportFigure{id, std::move(title), "inputs n", "time of one synapse, ns", {}};
  };
  const int64_t m = study.options.sizes.layer;
  ReportFigure five =
      figure("figure-5", fmt::format("Fig. 5. RBF layer of M = {} (less beyond n = 1024), backend {}", m, study.name));
  AddCurve(study, five, true, DType::kF64, study.name);
  AddCurve(study, five, true, DType::kF32, study.name);
  ReportSeries printed{"paper: GTX 750, f64 (Table III)", {}, true};
  for (const PaperTable3Row& row : kPaperTable3) {
    printed.points.emplace_back(static_cast<double>(row.n), row.t_syn_ns);
  }
  five.series.push_back(std::move(printed));
  ReportFigure six =
      figure("figure-6", fmt::format("Fig. 6. RBF layer of M = {} (less beyond n = 1024), plain loops", m));
  AddCurve(study, six, true, DType::kF64, "serial");
  AddCurve(study, six, true, DType::kF64, "threads");
  six.series.push_back({"paper: one core, @jit, f64 (n < 20)", {{1, 7}, {20, 7}}, true});
  six.series.push_back({"paper: one core, @jit, f64, saturated", {{1024, 49}}, true});
  ReportFigure seven =
      figure("figure-7", fmt::format("Fig. 7. MUL layer of M = {} (less beyond n = 1024), matrix products", m));
  for (const char* backend : {"blas", "cpu"}) {
    AddCurve(study, seven, false, DType::kF64, backend);
    AddCurve(study, seven, false, DType::kF32, backend);
  }
  seven.series.push_back({"paper: MKL, f64 (n > 200)", {{200, 0.5}, {1024, 0.5}}, true});
  seven.series.push_back({"paper: MKL, f32 (n > 200)", {{200, 0.25}, {1024, 0.25}}, true});
  for (ReportFigure* each : {&five, &six, &seven}) {
    report.figures.push_back(std::move(*each));
  }
}

// A refusal without the type that the row names anyway, so that the rows share one footnote.
std::string WithoutType(std::string reason, DType dtype) {
  const std::string type = fmt::format(", not {}", DTypeName(dtype));
  if (const size_t at = reason.find(type); at != std::string::npos) {
    reason.erase(at, type.size());
  }
  return reason;
}

void AddTable4(Study2017& study, Report& report) {
  const int64_t size = study.options.sizes.square;
  ReportTable table{"table-4",
                    fmt::format("Table IV. Time of one synapse by data type, {0} × {0} × {0}, ns", size),
                    {{"synapse", "synapse"}, {"dtype", "type"}},
                    {},
                    "Paper: NumPy with MKL, products.",
                    true};
  for (const BackendRow& row : BackendTable()) {
    table.columns.push_back({fmt::format("{}_t_syn_ns", row.name), std::string(row.name)});
  }
  table.columns.push_back({"paper_t_syn_ns", "paper"});
  for (const char* neuron : {"dot-identity-nobias", "l1-identity"}) {
    for (const PaperTable4Row& printed : kPaperTable4) {
      Problem problem;
      problem.layer = ParseNeuron(neuron);
      problem.layer.inputs = problem.layer.outputs = problem.batch = size;
      problem.dtype = printed.dtype;
      const bool dot = problem.layer.synapse == Synapse::kDot;
      std::vector<ReportCell> row{std::string(SynapseName(problem.layer.synapse)),
                                  std::string(DTypeName(printed.dtype))};
      for (const BackendRow& backend : BackendTable()) {
        row.push_back(SynapseCell(study.timer.Time(problem, std::string(backend.name))));
        row.back().text = WithoutType(row.back().text, printed.dtype);
      }
      row.push_back(dot ? PaperCell(printed.t_syn_ns) : ReportCell());
      table.rows.push_back(std::move(row));
    }
  }
  report.tables.push_back(std::move(table));
}

void AddTable5(Study2017& study, Report& report) {
  ReportTable table{"table-5",
                    fmt::format("Table V. Time of one synapse by platform, n = {}, M = {}, ns", kMnistInputs,
                                study.options.sizes.LayerFor(kMnistInputs)),
                    {{"platform", "platform"},
                     {"rbf_f32_t_syn_ns", "RBF f32"},
                     {"rbf_f64_t_syn_ns", "RBF f64"},
                     {"mul_f32_t_syn_ns", "MUL f32"},
                     {"mul_f64_t_syn_ns", "MUL f64"},
                     {"rbf_f64_speedup", "speed-up, RBF f64"},
                     {"mul_f64_speedup", "speed-up, MUL f64"}},
                    {},
                    "",
                    true};
  const auto time = [&](bool rbf, DType dtype, const std::string& backend) -> const TimedLayer& {
    return study.timer.Time(rbf ? study.Rbf(kMnistInputs, dtype) : study.Mul(kMnistInputs, dtype), backend);
  };
  for (const BackendRow& row : BackendTable()) {
    const std::string name(row.name);
    table.rows.push_back({fmt::format("{}: {}", name, row.summary), SynapseCell(time(true, DType::kF32, name)),
                          SynapseCell(time(true, DType::kF64, name)), SynapseCell(time(false, DType::kF32, name)),
                          SynapseCell(time(false, DType::kF64, name)),
                          RatioCell(time(true, DType::kF64, "serial"), time(true, DType::kF64, name)),
                          RatioCell(time(false, DType::kF64, "serial"), time(false, DType::kF64, name))});
  }
  for (const PaperTable5Row& printed : kPaperTable5) {
    table.rows.push_back({printed.platform,
                          PaperCell(printed.f32_ns),
                          PaperCell(printed.f64_ns),
                          {},
                          {},
                          PaperCell(printed.speedup),
                          {}});
  }
  table.note = fmt::format(
      "Speed-up over one plain thread (serial) in f64; the paper's over gcc. {} The paper's 0.33 for MKL is in f32, "
      "and of MUL layers.",
      kEstimated);
  report.tables.push_back(std::move(table));
}

// Everything that was timed, whichever table asked for it.
void AddMeasurements(const Study2017& study, Report& report) {
  ReportTable table{"measurements",
                    "Every measurement",
                    {{"problem", ""},
                     {"backend", ""},
                     {"threads", ""},
                     {"seconds", ""},
                     {"t_syn_ns", ""},
                     {"timed_samples", ""},
                     {"estimated", ""},
                     {"verified", ""},
                     {"largest_error", ""},
                     {"error_bound", ""},
                     {"plan", ""},
                     {"reason", ""}},
                    {},
                    "",
                    false};
  for (const auto& [key, layer] : study.timer.all()) {
    if (!layer.done()) {
      table.rows.push_back({layer.problem.Text(), layer.backend, {}, {}, {}, {}, {}, {}, {}, {}, {}, layer.reason});
      continue;
    }
    table.rows.push_back({layer.problem.Text(),
                          layer.backend,
                          static_cast<double>(layer.threads),
                          layer.seconds,
                          layer.t_syn_ns,
                          static_cast<double>(layer.timed_samples),
                          layer.estimated() ? "yes" : "no",
                          layer.verified ? "yes" : "WRONG",
                          layer.largest_error,
                          layer.error_bound,
                          layer.plan,
                          {}});
  }
  report.tables.push_back(std::move(table));
}

}  // namespace

Paper2017Result RunPaper2017(const Paper2017Options& options) {
  Study2017 study{options, LayerTimer(options.timer), MakeBackend(options.backend, {.threads = options.timer.threads}),
                  ""};
  study.name = study.backend->name();
  Paper2017Result result;
  Report& report = result.report;
  report.title = "The study of 2017 on this machine";
  report.hardware = fmt::format("{}; lamina {}, {} thread{}", QueryHardware().OneLine(), Version(),
                                study.backend->threads(), study.backend->threads() == 1 ? "" : "s");
  report.introduction = fmt::format(
      "R. Dogaru, I. Dogaru: *Optimization of GPU and CPU Acceleration for Neural Networks Layers Implemented in "
      "Python* (2017), with "
      "its numbering. RBF: max(0, 1 − Σ|x − w| / 2.5066 r); MUL: tanh Σ x w; a layer of M neurons on M samples of n "
      "inputs. Every "
      "result was compared with plain loops in double precision before it was timed; times are medians of {} rounds of "
      "at least "
      "{:.2g} s.",
      options.timer.rounds, options.timer.seconds / options.timer.rounds);
  AddFigure4(study, report);
  AddSweep(study, report);
  AddTable3(study, report);
  AddTable4(study, report);
  AddTable5(study, report);
  AddFigures(study, report);
  report.tables.push_back(
      TimeClassifiers(options.sizes.classifier_rows, kMnistInputs, *study.backend, options.timer.stop_requested));
  AddMeasurements(study, report);
  result.all_verified = study.timer.AllVerified();
  result.interrupted = study.timer.interrupted();
  return result;
}

}  // namespace lamina
