// Readers of trained networks: safetensors, model recipes, checkpoints, and lamina.h on them.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/scratch_folder.h"
#include "lamina/lamina.h"
#include "lamina/model/model.h"
#include "lamina/model/predictor.h"
#include "lamina/model/safetensors.h"
#include "lamina/run/checkpoint.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

using nlohmann::json;

constexpr char kMark = '\xFF';  // between the parts of a structured input: in no JSON text
constexpr int64_t kMostElements = 4096;
const std::string kModelSource = "input.safetensors";

// A whole number of a JSON object; 0 for anything else.
int64_t NumberIn(const json& node, const char* name) {
  return node.is_object() && node.contains(name) && node[name].is_number_integer() ? node[name].get<int64_t>() : 0;
}

bool YesIn(const json& node, const char* name) {
  return node.is_object() && node.contains(name) && node[name].is_boolean() && node[name].get<bool>();
}

std::string TextIn(const json& node, const char* name) {
  return node.is_object() && node.contains(name) && node[name].is_string() ? node[name].get<std::string>() : "";
}

constexpr const char* kWithoutZeros = "without_zeros";  // of a layer, for FileMaker alone

// A safetensors file around metadata, with the tensors that its recipe asks for. The code that reads recipes is so
// reached, whatever they say. It is made here, not by the library, as a stranger would.
class FileMaker {
 public:
  FileMaker(std::string_view recipe, std::string_view checkpoint, std::string_view numbers) : numbers_(numbers) {
    metadata_["lamina"] = std::string(recipe);
    if (!checkpoint.empty()) {
      metadata_["lamina_checkpoint"] = std::string(checkpoint);
    }
    const json node = json::parse(recipe, nullptr, false);
    const json network = node.is_object() && node.contains("network") ? node["network"] : json();
    type_ = TextIn(network, "dtype") == "f64" ? "F64" : "F32";
    const std::string stored = TextIn(network, "weights");
    const json layers = network.is_object() && network.contains("layers") ? network["layers"] : json::array();
    int64_t total = 0;
    for (size_t l = 0; layers.is_array() && l < layers.size() && l < 8; ++l) {
      const int64_t inputs = NumberIn(layers[l], "inputs");
      const int64_t outputs = NumberIn(layers[l], "outputs");
      if (inputs < 0 || outputs < 0 || inputs > kMostElements || inputs * outputs > kMostElements) {
        continue;
      }
      const std::string prefix = fmt::format("layer.{}.", l + 1);
      const bool few_bits = !stored.empty() && stored != "exact" && TextIn(layers[l], "synapse") == "dot";
      const std::string type = !few_bits ? type_ : stored == "i8" ? "I8" : stored == "f16" ? "F16" : "BF16";
      if (YesIn(layers[l], kWithoutZeros)) {
        AddWithoutZeros(prefix + "weight", type, outputs, inputs);
      } else {
        Add(prefix + "weight", type, {outputs, inputs});
      }
      if (few_bits && stored == "i8") {
        Add(prefix + "weight_scale", "F32", {outputs});
      }
      if (YesIn(layers[l], "bias")) {
        Add(prefix + "bias", type_, {outputs});
      }
      if (YesIn(layers[l], "trained_radius")) {
        Add(prefix + "radius", type_, {outputs});
      }
      const int64_t line = 64 / (type_ == "F64" ? 8 : 4);  // parameters start at cache lines
      for (const int64_t count : {inputs * outputs, YesIn(layers[l], "bias") ? outputs : 0,
                                  YesIn(layers[l], "trained_radius") ? outputs : 0}) {
        total += (count + line - 1) / line * line;
      }
    }
    if (!checkpoint.empty()) {
      for (const char* name : {"checkpoint.best", "checkpoint.optimiser.0", "checkpoint.optimiser.1"}) {
        Add(name, type_, {total});
      }
    }
  }

  std::string Text() const {
    json header = tensors_;
    header["__metadata__"] = metadata_;
    std::string text;
    try {
      text = header.dump();
    } catch (const json::exception&) {  // bytes that JSON cannot hold
      return "";
    }
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string file(8, '\0');
    const uint64_t size = text.size();
    std::memcpy(file.data(), &size, sizeof(size));
    return file + text + data_;
  }

 private:
  // Places are whatever the input says, behind the end of a row, too.
  void AddWithoutZeros(const std::string& name, const std::string& type, int64_t rows, int64_t cols) {
    const size_t begin = data_.size();
    Add(name + ".places", "U8", {rows, (cols + 7) / 8});
    int64_t count = 0;
    for (size_t i = begin; i < data_.size(); ++i) {
      count += std::popcount(static_cast<uint8_t>(data_[i]));
    }
    Add(name + ".values", type, {count});
  }

  void Add(const std::string& name, const std::string& type, const std::vector<int64_t>& shape) {
    const int64_t size = type == "F64" ? 8 : type == "F32" ? 4 : type == "I8" || type == "U8" ? 1 : 2;
    int64_t count = 1;
    for (const int64_t n : shape) {
      count *= n;
    }
    const size_t begin = data_.size();
    for (int64_t i = 0; i < count; ++i) {
      const uint8_t byte = numbers_.Rest().empty() ? static_cast<uint8_t>(i * 37) : numbers_.Byte();
      const double value = (byte - 128) / 64.0;
      const auto single = static_cast<float>(value);
      if (type == "F64") {
        data_.append(reinterpret_cast<const char*>(&value), 8);
      } else if (type == "F32") {
        data_.append(reinterpret_cast<const char*>(&single), 4);
      } else {
        data_.append(static_cast<size_t>(size), static_cast<char>(type == "U8" ? byte : byte & 0x3F));
      }
    }
    tensors_[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, data_.size()}}};
  }

  Bytes numbers_;
  std::string type_;
  json metadata_ = json::object();
  json tensors_ = json::object();
  std::string data_;
};

// Answers a few rows; the network may be of any small size.
void Ask(const Model& model) {
  if (model.nearest > 0 || model.network.layers().empty()) {
    return;
  }
  const Predictor predictor(model.network);
  PredictorScratch scratch = predictor.MakeScratch();
  const auto size = static_cast<size_t>(DTypeSize_bytes(predictor.dtype()));
  const std::vector<double> x(static_cast<size_t>(predictor.inputs()) + 1, 0.0);  // zeros of either type
  std::vector<double> y(static_cast<size_t>(predictor.outputs()) * size / sizeof(double) + 1);
  predictor.Predict(x.data(), y.data(), scratch);
}

// One folder for all: what is written replaces what the last input left.
const ScratchFolder& Scratch() {
  static const ScratchFolder folder("fuzz");
  return folder;
}

// What was accepted is written and read back the same.
void WriteAndRead(const Model& model) {
  SaveModel(Scratch().Path("a"), model);
  const Model again = LoadModel(Scratch().Path("a"));
  SaveModel(Scratch().Path("b"), again);
  Demand(ReadFile(Scratch().Path("a")) == ReadFile(Scratch().Path("b")), "another model when read again");
}

void ReadAndAsk(const std::string& content) {
  Model model;
  if (!Accepts(kModelSource, [&] { model = ModelFrom(SafetensorsFile::Parse(content, kModelSource), kModelSource); })) {
    return;
  }
  Accepts("", [&] { Ask(model); });
  WriteAndRead(model);
}

// First byte even: a file. Odd: its header, the mark, its tensors.
void FuzzSafetensors(std::string_view input) {
  Bytes bytes(input);
  std::string content;
  if (bytes.Byte() % 2 == 0) {
    content = std::string(bytes.Rest());
  } else {
    const std::string_view header = bytes.Until(kMark);
    const uint64_t size = header.size();
    content.assign(reinterpret_cast<const char*>(&size), sizeof(size));
    content += header;
    content += bytes.Rest();
  }
  Accepts(kModelSource, [&] {
    const SafetensorsFile file = SafetensorsFile::Parse(content, kModelSource);
    size_t seen = 0;
    for (const auto& [name, tensor] : file.tensors()) {
      int64_t count = 1;
      for (const int64_t n : tensor.shape) {
        Demand(n >= 0, "a negative dimension");
        count *= n;
      }
      Demand(tensor.element_count() == count && std::ssize(tensor.bytes) == count * DTypeSize_bytes(tensor.dtype),
             "a tensor of another size than its shape");
      for (const char c : tensor.bytes) {
        seen += static_cast<unsigned char>(c) & 1U;
      }
    }
    Demand(seen <= content.size(), "tensors overlap");
  });
  ReadAndAsk(content);
}

// A recipe, the mark, numbers for its tensors.
void FuzzModel(std::string_view input) {
  Bytes bytes(input);
  const std::string_view recipe = bytes.Until(kMark);
  ReadAndAsk(FileMaker(recipe, "", bytes.Rest()).Text());
}

// A recipe, the mark, the state of training, the mark, numbers.
void FuzzCheckpoint(std::string_view input) {
  Bytes bytes(input);
  const std::string_view recipe = bytes.Until(kMark);
  const std::string_view state = bytes.Until(kMark);
  const std::string content = FileMaker(recipe, state, bytes.Rest()).Text();
  Checkpoint checkpoint;
  if (!Accepts(kModelSource,
               [&] { checkpoint = CheckpointFrom(SafetensorsFile::Parse(content, kModelSource), kModelSource); })) {
    return;
  }
  SaveCheckpoint(Scratch().Path("a"), checkpoint.model, checkpoint.state, checkpoint.data_fingerprint);
  const Checkpoint again = LoadCheckpoint(Scratch().Path("a"));
  SaveCheckpoint(Scratch().Path("b"), again.model, again.state, again.data_fingerprint);
  Demand(ReadFile(Scratch().Path("a")) == ReadFile(Scratch().Path("b")), "another checkpoint when read again");
}

// First byte: bit 0 a whole file, else a recipe, the mark and numbers; then how weights are kept.
void FuzzCApi(std::string_view input) {
  Bytes bytes(input);
  const uint8_t how = bytes.Byte();
  std::string content;
  if (how % 2 == 1) {
    content = std::string(bytes.Rest());
  } else {
    const std::string_view recipe = bytes.Until(kMark);
    content = FileMaker(recipe, "", bytes.Rest()).Text();
  }
  const MemoryFile file(content);
  const char* const weights[] = {"exact", "bf16", "f16", "i8"};
  lamina_model* model = (how & 2) == 0 ? lamina_load(file.path().c_str())
                                       : lamina_load_weights(file.path().c_str(), weights[how / 4 % 4]);
  if (model == nullptr) {
    Demand(std::strlen(lamina_error()) > 0, "a failure without a reason");
    return;
  }
  const int64_t inputs = lamina_inputs(model);
  const int64_t outputs = lamina_outputs(model);
  Demand(inputs > 0 && outputs > 0, "a model without inputs or outputs");
  for (const int64_t i : {int64_t{-1}, int64_t{0}, inputs - 1, inputs}) {
    Demand((lamina_input_name(model, i) == nullptr) == (i < 0 || i >= inputs), "names out of range");
  }
  constexpr int64_t kRows = 3;
  std::vector<double> rows(static_cast<size_t>(kRows * inputs));
  std::vector<double> out(static_cast<size_t>(kRows * outputs), -7.0);
  const double values[] = {0, 1, -1, 0.5, 1e30, NAN, 1e308, -3};
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = values[(i + how) % (how < 128 ? 4 : std::size(values))];
  }
  if (lamina_predict(model, rows.data(), kRows, out.data()) == 0) {
    for (const double value : out) {
      Demand(std::isfinite(value), "an answer that is not finite");
    }
    const int64_t of = lamina_class_of(model, out.data());
    Demand(lamina_classes(model) == 0 ? of == -1 : of >= 0 && lamina_class_name(model, of) != nullptr,
           "a class of no name");
    std::vector<double> one(static_cast<size_t>(outputs));
    Demand(lamina_predict(model, rows.data() + (kRows - 1) * inputs, 1, one.data()) == 0 &&
               std::memcmp(one.data(), out.data() + (kRows - 1) * outputs, one.size() * sizeof(double)) == 0,
           "one row is answered otherwise than among others");
  } else {
    Demand(std::strlen(lamina_error()) > 0, "a failure without a reason");
  }
  lamina_free(model);
}

const RegisteredTargets model_targets{
    {"safetensors", &FuzzSafetensors}, {"model", &FuzzModel}, {"checkpoint", &FuzzCheckpoint}, {"c_api", &FuzzCApi}};

}  // namespace
}  // namespace lamina::fuzz
