// Files in, file out. The constructor checks settings and shapes and cuts the layer to the memory budget (PlanLayer);
// Run() maps the output, draws weights into a file where none are given, and hands both row sources to SlicedLayer,
// which does the work. Samples, weights and outputs are mapped files that are never held whole; only the bias is.
#include "lamina/layer/file_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/data/files/npy_matrix.h"
#include "lamina/layer/random_weights.h"
#include "lamina/tune/profile.h"

namespace lamina {
namespace {

[[noreturn]] void ThrowBadLayer(std::string what, std::string value = "", std::string remedy = "") {
  throw Error(ErrorCode::kInvalidArgument, std::move(what), {.value = std::move(value), .remedy = std::move(remedy)});
}

void CheckSettings(const FileLayerSettings& s) {
  if (s.x.empty() || s.out.empty()) {
    ThrowBadLayer(s.x.empty() ? "no samples: give --x FILE" : "no output: give --out FILE");
  }
  if (s.w.empty() == (s.neurons == 0)) {
    ThrowBadLayer(s.w.empty() ? "no weights: give --w FILE, or --neurons COUNT for random ones"
                              : "--neurons is for random weights, but --w gives them");
  }
  if (s.neurons < 0) {
    ThrowBadLayer("--neurons must be 1 or more", std::to_string(s.neurons));
  }
  if (!s.w.empty() && !s.w_out.empty()) {
    ThrowBadLayer("--w-out keeps random weights, but --w gives them");
  }
  CheckFiles(FilesOf(s));
}

// The neuron with its radius; a triangle of an arbitrary radius answers nothing at all, so one must be given.
LayerSpec NeuronOf(const FileLayerSettings& s) {
  LayerSpec layer = ParseNeuron(s.neuron);
  const std::string& name = layer.activation.name();
  const bool has_radius = layer.activation.radius() > 0;
  if (s.radius && !has_radius) {
    ThrowBadLayer(fmt::format("--radius is for triangle and gaussian, {} has none", name));
  }
  if (s.radius) {
    if (!(*s.radius > 0) || !(*s.radius <= std::numeric_limits<double>::max())) {
      ThrowBadLayer("--radius must be a positive number", fmt::format("{}", *s.radius));
    }
    layer.activation = layer.activation.WithRadius(*s.radius);
  } else if (has_radius && s.neuron.find("radius") == std::string::npos) {
    ThrowBadLayer(fmt::format("{} needs a radius", name), s.neuron, "Give --radius R, in the units of the distances.");
  }
  if (IsDistance(layer.synapse) && layer.bias && s.bias.empty()) {
    ThrowBadLayer("the neuron has a bias, but none is given", s.neuron, "Give --bias FILE.");
  }
  layer.bias = !s.bias.empty();
  return layer;
}

Precision PrecisionOf(const std::string& text) {
  const Precision precision = ParseName(text, kPrecisions, "--precision: unknown choice");
  if (precision == Precision::kBFloat16) {
    ThrowBadLayer("--precision bf16 is for training", "", "Use exact or fast; files of f2 are read as they are.");
  }
  return precision;
}

void ReadSlice(const std::string& text, SliceOptions& options) {
  const std::vector<std::string_view> sizes = SplitText(text, 'x');
  options.samples = ParseInteger(sizes[0]).value_or(0);
  options.neurons = sizes.size() == 2 ? ParseInteger(sizes[1]).value_or(0) : 0;
  if (options.samples < 1 || options.neurons < 1) {
    ThrowBadLayer("a slice is samples x neurons", text, "Write for example 4096x1024.");
  }
}

// The largest magnitude of integers whose sums might not fit otherwise, or fit into less (one reading of the file),
// else -1.
double LargestOf(RowSource& rows) {
  constexpr int64_t kBlock_bytes = 16 << 20;
  const int64_t element_bytes = DTypeSize_bytes(rows.dtype());
  constexpr int64_t kSafeInputs = 30'000;  // of 8 bits: products of 2^16 in sums of 2^31
  if (!IsInteger(rows.dtype()) || (element_bytes == 1 && rows.cols() <= kSafeInputs)) {
    return -1;
  }
  const int64_t block = std::max<int64_t>(1, kBlock_bytes / (rows.cols() * element_bytes));
  double largest = 0;
  for (int64_t begin = 0; begin < rows.rows(); begin += block) {
    const int64_t count = std::min(block, rows.rows() - begin);
    largest = std::max(largest, LargestMagnitude(rows.Rows(begin, count)));
    rows.Release(begin, count);
  }
  return largest;
}

}  // namespace

FileUse FilesOf(const FileLayerSettings& settings) {
  return {{{"--x", settings.x}, {"--w", settings.w}, {"--bias", settings.bias}},
          {{"--out", settings.out}, {"--w-out", settings.w_out}}};
}

FileLayer::FileLayer(const FileLayerSettings& settings) : settings_(settings) {
  CheckSettings(settings_);
  layer_ = NeuronOf(settings_);
  PrecisionOf(settings_.precision);
  if (settings_.threads < 0 || settings_.threads > 4096) {
    ThrowBadLayer("--threads must be between 0 and 4096", std::to_string(settings_.threads));
  }
  backend_ = MakeTunedBackend(settings_.backend, {.threads = static_cast<int>(settings_.threads)}, &tuning_warning_);
  x_ = std::make_unique<NpyMatrix>(settings_.x);
  if (!settings_.w.empty()) {
    w_ = std::make_unique<NpyMatrix>(settings_.w);
    if (w_->cols() != x_->cols() || w_->dtype() != x_->dtype()) {
      ThrowBadLayer(fmt::format("{} is {} x {} {} and {} is {} x {} {}: the columns and types must be the same",
                                x_->path(), x_->rows(), x_->cols(), DTypeName(x_->dtype()), w_->path(), w_->rows(),
                                w_->cols(), DTypeName(w_->dtype())));
    }
  }
  layer_.inputs = x_->cols();
  layer_.outputs = w_ == nullptr ? settings_.neurons : w_->rows();
  ReadBias();
  PlanLayer();
}

FileLayer::~FileLayer() = default;

int64_t FileLayer::batch() const { return x_->rows(); }
DType FileLayer::dtype() const { return x_->dtype(); }

void FileLayer::ReadBias() {
  if (settings_.bias.empty()) {
    return;
  }
  NpyMatrix file(settings_.bias, /*vectors=*/true);
  const bool column = file.cols() == 1 && file.rows() == layer_.outputs;
  if (!column && (file.rows() != 1 || file.cols() != layer_.outputs)) {
    ThrowBadLayer(fmt::format("{} is {} x {}, but the layer has {} neurons", file.path(), file.rows(), file.cols(),
                              layer_.outputs));
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
    ThrowBadLayer(fmt::format("an output of {} x {} is larger than any file", batch(), layer_.outputs));
  }
  budget_bytes_ = settings_.memory.empty() ? DefaultBudget_bytes() : ParseBytes(settings_.memory);
  if (const int64_t free_bytes = backend_->FreeMemory_bytes(); free_bytes > 0) {
    budget_bytes_ = std::min(budget_bytes_, free_bytes / 10 * 9 / 2);  // of two slices, one copied beside the other
  }
  options.budget_bytes = budget_bytes_;
  plan_ = PlanSlices(layer_, batch(), dtype(), options);
  if (settings_.asymmetry == SliceOptions{}.asymmetry && plan_.count() > 1) {
    const StoredProfile stored = LoadStoredProfile(*backend_);
    LayerSpec slice = layer_;
    slice.outputs = plan_.neurons;
    const Plan tuned = stored.profile == nullptr ? Plan()
                                                 : stored.profile->PlanFor({slice, Pass::kForward, plan_.samples,
                                                                            dtype(), PrecisionOf(settings_.precision)});
    if (tuned.asymmetry > 0) {
      options.asymmetry = tuned.asymmetry;
      plan_ = PlanSlices(layer_, batch(), dtype(), options);
    }
  }
}

FileLayerResult FileLayer::Run(const SliceCallbacks& callbacks) {
  const DType out_type = OutputType(dtype());
  std::unique_ptr<NpyOutput> drawn;
  NpyOutput out(settings_.out, batch(), layer_.outputs, out_type);
  RowSource* weights = w_.get();
  if (w_ == nullptr) {  // drawn into a file like any other, whose part is removed at the end unless it is to be kept
    const std::string path = settings_.w_out.empty() ? settings_.out + ".weights" : settings_.w_out;
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
  if (!sliced.Run(*x_, *weights, bias, {out.view(), [&](int64_t begin, int64_t count) { out.Finish(begin, count); }},
                  callbacks)) {
    return result;
  }
  result.seconds = watch.Elapsed_seconds();
  watch.Restart();
  out.Commit();
  if (!settings_.w_out.empty()) {
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
