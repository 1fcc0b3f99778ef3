// Files in, file out. The constructor checks settings and shapes and cuts the layer to the memory budget (PlanLayer).
// Run() maps the output and draws weights into a file where none are given; SlicedLayer then does the work on both row
// sources. Samples, weights and outputs are mapped files, never held whole; only the bias is.
#include "lamina/layer/file_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lamina/backend/backends.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/names.h"
#include "lamina/base/row_source.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/cluster/communicator.h"
#include "lamina/cluster/shards.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/layer/random_weights.h"
#include "lamina/layer/same_files.h"
#include "lamina/layer/shared_output.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

// A file and a path like any other.
std::vector<std::string> OneFile(const std::string& path) { return {path}; }

bool DrawsWeights(const FileLayerSettings& s) { return s.w.empty(); }

void CheckSettings(const FileLayerSettings& s) {
  CheckSettingRows(s);
  if (s.x.empty() || s.out.empty()) {
    RefuseSetting(s.x.empty() ? "x" : "out", s.x.empty() ? "no samples: give --x FILE" : "no output: give --out FILE");
  }
  if (s.w.empty() == (s.neurons == 0)) {
    RefuseSetting("neurons", s.w.empty() ? "no weights: give --w FILE, or --neurons COUNT for random ones"
                                         : "--neurons is for random weights, but --w gives them");
  }
  if (!s.w.empty() && !s.w_out.empty()) {
    RefuseSetting("w-out", "--w-out keeps random weights, but --w gives them");
  }
  CheckFiles(FilesOf(s));
}

// The neuron with its radius; a triangle of an arbitrary radius answers nothing at all, so one must be given.
LayerSpec NeuronOf(const FileLayerSettings& s) {
  LayerSpec layer = ParseNeuron(s.neuron);
  const std::string& name = layer.activation.name();
  const bool has_radius = layer.activation.radius() > 0;
  if (s.radius && !has_radius) {
    RefuseSetting("radius", fmt::format("--radius is for triangle and gaussian, {} has none", name));
  }
  if (s.radius) {
    layer.activation = layer.activation.WithRadius(*s.radius);
  } else if (has_radius && s.neuron.find("radius") == std::string::npos) {
    RefuseSetting("radius", fmt::format("{} needs a radius", name), s.neuron,
                  "Give --radius R, in the units of the distances.");
  }
  if (IsDistance(layer.synapse) && layer.bias && s.bias.empty()) {
    RefuseSetting("bias", "the neuron has a bias, but none is given", s.neuron, "Give --bias FILE.");
  }
  layer.bias = !s.bias.empty();
  return layer;
}

Precision PrecisionOf(const std::string& text) {
  const Precision precision = ParseName(text, kPrecisions, "--precision: unknown choice");
  if (precision == Precision::kBFloat16) {
    RefuseSetting("precision", "--precision bf16 is for training", "",
                  "Use exact or fast; files of f2 are read as they are.");
  }
  return precision;
}

void ReadSlice(const std::string& text, SliceOptions& options) {
  const std::vector<std::string_view> sizes = SplitText(text, 'x');
  options.samples = ParseInteger(sizes[0]).value_or(0);
  options.neurons = sizes.size() == 2 ? ParseInteger(sizes[1]).value_or(0) : 0;
  if (options.samples < 1 || options.neurons < 1) {
    RefuseSetting("slice", "a slice is samples x neurons", text, "Write for example 4096x1024.");
  }
}

// The largest magnitude of integers whose sums might not fit otherwise, or fit into less (one reading of the file),
// else -1.
double LargestOf(RowSource& rows) {
  const int64_t element_bytes = DTypeSize_bytes(rows.dtype());
  constexpr int64_t kSafeInputs = 30'000;  // of 8 bits: products of 2^16 in sums of 2^31
  if (!IsInteger(rows.dtype()) || (element_bytes == 1 && rows.cols() <= kSafeInputs)) {
    return -1;
  }
  return LargestMagnitude(rows);
}

// They share its memory.
int64_t RanksOfHost(const Communicator* ranks) {
  int64_t count = ranks == nullptr ? 1 : 0;
  for (int r = 0; ranks != nullptr && r < ranks->size(); ++r) {
    count += ranks->host(r) == ranks->host(ranks->rank()) ? 1 : 0;
  }
  return count;
}

// Ranks that are done wait for the others, which may be slower: some times as long as they took themselves.
bool StoppedAnywhere(Communicator* ranks, bool stopped, double seconds) {
  constexpr double kSlower = 4;
  if (ranks == nullptr) {
    return stopped;
  }
  const double patience = ranks->patience_seconds();
  ranks->set_patience_seconds(patience + kSlower * seconds);
  const bool any = ranks->Any(stopped);
  ranks->set_patience_seconds(patience);
  return any;
}

}  // namespace

template <>
std::span<const Setting<FileLayerSettings>> SettingRows() {
  using S = FileLayerSettings;
  using Row = Setting<S>;
  static const std::vector<Row> rows = JoinGroups<S>(
      {{"Layer",
        {Row("x", &S::x, "Samples: a .npy matrix, samples x inputs; f8, f4, f2, i8, i4, i2, i1 or u1",
             {.reads = &OneFile}),
         Row("w", &S::w, "Weights: a .npy matrix, neurons x inputs, of the type of the samples", {.reads = &OneFile}),
         Row("bias", &S::bias, "Bias: a .npy array of one number for each neuron", {.reads = &OneFile}),
         Row("out", &S::out, "Write the outputs here: a .npy matrix, samples x neurons", {.writes = true}),
         Row("neuron", &S::neuron,
             "Synapse and activation: rbf (l1-triangle), mul (dot-tanh), l2-gaussian, dot-sigmoid, ..."),
         Row("radius", &S::radius, "Radius of a triangle or gaussian activation", {.range = kPositive}),
         Row("neurons", &S::neurons,
             "Without --w: this many neurons; distances take random rows of the samples as centers, dot random weights",
             {.range = kNotNegative, .effect = &DrawsWeights}),
         Row("seed", &S::seed, "Seed of these weights", {.effect = &DrawsWeights}),
         Row("w-out", &S::w_out, "Keep these weights in this .npy file", {.effect = &DrawsWeights, .writes = true})}},
       {"Slices and machine",
        {Row("memory", &S::memory, "Memory to use, such as 600M or 2GiB; default: three quarters of what is free"),
         Row("asymmetry", &S::asymmetry, "As: a slice for a size M has M*As samples and M/As neurons",
             {.range = kPositive, .effect = [](const S& s) { return s.slice.empty(); }}),
         Row("slice", &S::slice, "Samples x neurons of a slice, such as 4096x1024, instead of what the memory allows"),
         Row("precision", &S::precision,
             "exact, or fast: l1 at the speed of a matrix product, with larger rounding errors",
             {.choices = [] { return NamesIn(kPrecisions); }}),
         Row("backend", &S::backend, BackendNamesText() + "; not blas, which gives no fixed order of sums",
             {.choices = &BackendNames}),
         Row("threads", &S::threads, "Threads; 0: all cores", {.range = kThreadCounts})}}});
  return rows;
}

FileLayer::FileLayer(const FileLayerSettings& settings, Communicator* ranks) : settings_(settings), ranks_(ranks) {
  CheckSettings(settings_);
  layer_ = NeuronOf(settings_);
  PrecisionOf(settings_.precision);
  backend_ = MakeTunedBackend(settings_.backend, {.threads = Threads()}, &tuning_warning_);
  x_ = std::make_shared<NpyMatrix>(settings_.x);
  if (!settings_.w.empty()) {
    w_ = std::make_unique<NpyMatrix>(settings_.w);
    if (w_->cols() != x_->cols() || w_->dtype() != x_->dtype()) {
      RefuseSetting("w", fmt::format("{} is {} x {} {} and {} is {} x {} {}: the columns and types must be the same",
                                     x_->path(), x_->rows(), x_->cols(), DTypeName(x_->dtype()), w_->path(), w_->rows(),
                                     w_->cols(), DTypeName(w_->dtype())));
    }
  }
  layer_.inputs = x_->cols();
  layer_.outputs = w_ == nullptr ? settings_.neurons : w_->rows();
  ReadBias();
  ShareSamples();
  PlanLayer();
}

FileLayer::~FileLayer() = default;

// The ranks of a host share its cores.
int FileLayer::Threads() const {
  const auto asked = static_cast<int>(settings_.threads);
  return ranks_ == nullptr || asked > 0 ? asked : CoresOfRank(*ranks_);
}

void FileLayer::ShareSamples() {
  own_count_ = batch();
  if (ranks_ == nullptr) {
    return;
  }
  std::vector<NpyMatrix*> files{x_.get()};
  if (w_ != nullptr) {
    files.push_back(w_.get());
  }
  RequireSameFiles(*ranks_, *backend_, settings_, files);
  if (batch() < ranks_->size()) {
    RefuseSetting("x", fmt::format("{} ranks share {} samples: some would have nothing to do", ranks_->size(), batch()),
                  settings_.x, "Start fewer ranks.");
  }
  const IndexRange own = PartOf(batch(), ranks_->size(), ranks_->rank());
  own_begin_ = own.begin;
  own_count_ = own.count();
}

int64_t FileLayer::batch() const { return x_->rows(); }
DType FileLayer::dtype() const { return x_->dtype(); }

void FileLayer::ReadBias() {
  if (settings_.bias.empty()) {
    return;
  }
  NpyMatrix file(settings_.bias, /*vectors=*/true);
  const bool column = file.cols() == 1 && file.rows() == layer_.outputs;
  if (!column && (file.rows() != 1 || file.cols() != layer_.outputs)) {
    RefuseSetting("bias", fmt::format("{} is {} x {}, but the layer has {} neurons", file.path(), file.rows(),
                                      file.cols(), layer_.outputs));
  }
  bias_ = Matrix(file.rows(), file.cols(), OutputType(x_->dtype()));
  ConvertMatrix(file.Rows(0, file.rows()), bias_.view());
}

void FileLayer::PlanLayer() {
  SliceOptions options;
  options.asymmetry = settings_.asymmetry;
  options.reserved_bytes = kReserved_bytes;
  if (!settings_.slice.empty()) {
    ReadSlice(settings_.slice, options);
  }
  if (SliceBytes(layer_, dtype(), batch(), layer_.outputs) == std::numeric_limits<int64_t>::max()) {
    RefuseSetting("x", fmt::format("an output of {} x {} is larger than any file", batch(), layer_.outputs));
  }
  budget_bytes_ = settings_.memory.empty() ? DefaultBudget_bytes() / RanksOfHost(ranks_) : ParseBytes(settings_.memory);
  if (const int64_t free_bytes = backend_->FreeMemory_bytes(); free_bytes > 0) {
    budget_bytes_ = std::min(budget_bytes_, free_bytes / 10 * 9 / 2);  // of two slices, one copied beside the other
  }
  options.budget_bytes = budget_bytes_;
  plan_ = PlanSlices(layer_, own_count_, dtype(), options);
  if (settings_.asymmetry == SliceOptions{}.asymmetry && plan_.count() > 1) {
    const StoredProfile stored = LoadStoredProfile(*backend_);
    LayerSpec slice = layer_;
    slice.outputs = plan_.neurons;
    const Plan tuned = stored.profile == nullptr ? Plan()
                                                 : stored.profile->PlanFor({slice, Pass::kForward, plan_.samples,
                                                                            dtype(), PrecisionOf(settings_.precision)});
    if (tuned.asymmetry > 0) {
      options.asymmetry = tuned.asymmetry;
      plan_ = PlanSlices(layer_, own_count_, dtype(), options);
    }
  }
}

FileLayerResult FileLayer::Run(const SliceCallbacks& callbacks) {
  const DType out_type = OutputType(dtype());
  std::unique_ptr<NpyOutput> drawn;
  std::unique_ptr<ScratchFolder> scratch;  // of ranks that keep no weights
  std::unique_ptr<NpyOutput> out;
  std::unique_ptr<SharedOutput> shared;
  SlicedOutput written;
  if (ranks_ == nullptr) {
    out = std::make_unique<NpyOutput>(settings_.out, batch(), layer_.outputs, out_type);
    written = {out->view(), [&](const SlicePiece& piece) { out->Finish(piece.begin, piece.rows); }};
  } else {
    shared = std::make_unique<SharedOutput>(settings_.out, batch(), own_begin_, own_count_, layer_.outputs, out_type,
                                            *ranks_);
    written = {shared->view(), [&](const SlicePiece& piece) {
                 shared->Write(piece.begin, piece.rows, piece.neuron, piece.neurons);
                 if (backend_->space() == Space::kHost || piece.neuron + piece.neurons == layer_.outputs) {
                   shared->Release(piece.begin, piece.rows);
                 }
               }};
  }
  const bool first = ranks_ == nullptr || ranks_->is_first();
  RowSource* weights = w_.get();
  if (w_ == nullptr) {  // drawn into a file like any other, whose part is removed at the end unless it is to be kept
    std::string path = settings_.w_out.empty() ? settings_.out + ".weights" : settings_.w_out;
    if (!first) {
      scratch = std::make_unique<ScratchFolder>("weights");
      path = scratch->Path("weights.npy");
    }
    drawn = std::make_unique<NpyOutput>(path, layer_.outputs, layer_.inputs, dtype());
    DrawWeights(layer_, *x_, settings_.seed, drawn->view(),
                [&](int64_t begin, int64_t count) { drawn->Finish(begin, count); });
    weights = drawn.get();
  }
  SlicedLayerOptions options;
  options.precision = PrecisionOf(settings_.precision);
  options.largest_x = LargestOf(*x_);
  options.largest_w = LargestOf(*weights);
  SlicedLayer sliced(layer_, *backend_, plan_, dtype(), options);
  Stopwatch watch;
  FileLayerResult result;
  const void* bias = layer_.bias ? bias_.data() : nullptr;
  RowRange samples(x_, own_begin_, own_count_);
  const bool complete = sliced.Run(samples, *weights, bias, written, callbacks);
  if (StoppedAnywhere(ranks_, !complete, watch.Elapsed_seconds())) {
    return result;
  }
  result.seconds = watch.Elapsed_seconds();
  watch.Restart();
  if (shared != nullptr) {
    shared->Commit();
  } else {
    out->Commit();
  }
  if (!settings_.w_out.empty() && first) {
    drawn->Commit();
  }
  result.flush_seconds = watch.Elapsed_seconds();
  result.complete = true;
  const double synapses =
      static_cast<double>(batch()) * static_cast<double>(layer_.outputs) * static_cast<double>(layer_.inputs);
  result.synapses_per_second = synapses / result.seconds;
  result.t_syn_ns = 1e9 * result.seconds / synapses;
  return result;
}

}  // namespace lamina
