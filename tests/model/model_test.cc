// Model files: round trips on every type, and files that are damaged, foreign or hostile.
#include "lamina/model/model.h"

#include <fmt/format.h>

#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "lamina/base/file.h"
#include "lamina/model/onnx_export.h"
#include "lamina/run/checkpoint.h"
#include "tests/caught_error.h"
#include "tests/neuron/custom_activations.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"
#include "tests/thin.h"

namespace lamina {
namespace {

using nlohmann::json;

Model ModelOf(DType dtype, const Activation& hidden = "tanh") {
  return SmallModel(RandomTable(20, 3, 2, 1), dtype, hidden);
}

Model ParseModel(std::string content, std::span<const Activation> custom = {}) {
  return ModelFrom(SafetensorsFile::Parse(std::move(content), "m"), "m", custom);
}

// The file of `model` with its description changed.
std::string Edited(const TemporaryFolder& folder, const Model& model, const std::function<void(json&)>& edit) {
  SaveModel(folder.Path("edit"), model);
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("edit"));
  json node = json::parse(file.metadata().at("lamina"));
  edit(node);
  WriteSafetensors(folder.Path("edit"), {{"lamina", node.dump()}}, file.tensors());
  return ReadFile(folder.Path("edit"));
}

Error EditError(const std::function<void(json&)>& edit) {
  const TemporaryFolder folder;
  const std::string content = Edited(folder, ModelOf(DType::kF32), edit);
  Error error = CaughtError([&] { ParseModel(content); });
  EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
  EXPECT_EQ(error.context().file, "m") << error.what();
  return error;
}

TEST(Model, RoundTripKeepsEveryBit) {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    Model model = ModelOf(dtype, "bipolar_sigmoid(gain=0.1,threshold=-3)");
    DispatchFloat(dtype, [&]<class T>(T) { static_cast<T*>(model.network.Bias(0))[2] = T(-0.1); });
    SaveModel(folder.Path("m"), model);
    EXPECT_EQ(folder.Count(), 1);
    const Model again = LoadModel(folder.Path("m"));
    EXPECT_EQ(again.network.layers(), model.network.layers());
    EXPECT_EQ(again.network.dtype(), dtype);
    EXPECT_EQ(ParameterBytes(again.network), ParameterBytes(model.network));
    EXPECT_EQ(again.loss, model.loss);
    EXPECT_EQ(again.training, model.training);
    EXPECT_EQ(again.preprocessor.ToJson(), model.preprocessor.ToJson());
    SaveModel(folder.Path("n"), again);
    EXPECT_EQ(ReadFile(folder.Path("n")), ReadFile(folder.Path("m")));
    std::filesystem::remove(folder.Path("n"));
  }
}

TEST(Model, BareNetworksNeedNoPreprocessing) {
  const TemporaryFolder folder;
  Model model;
  model.network = Network(ParseLayers("dot-tanh:3", 2, true), DType::kF32);
  model.network.Initialize(Initialization::kHeNormal, 3);
  SaveModel(folder.Path("bare"), model);
  const Model loaded = LoadModel(folder.Path("bare"));
  EXPECT_EQ(loaded.preprocessor.inputs().count(), 0);
  EXPECT_EQ(loaded.network.Weights(0).Row<float>(2)[1], model.network.Weights(0).Row<float>(2)[1]);
}

TEST(Model, LayersWithoutBias) {
  const TemporaryFolder folder;
  Model model = ModelOf(DType::kF32);
  std::vector<LayerSpec> layers = model.network.layers();
  layers[0].bias = false;
  model.network = Network(layers, DType::kF32);
  model.network.Initialize(Initialization::kHeNormal, 1);
  SaveModel(folder.Path("m"), model);
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  EXPECT_FALSE(file.tensors().contains("layer.1.bias"));
  EXPECT_TRUE(file.tensors().contains("layer.2.bias"));
  EXPECT_EQ(ParameterBytes(LoadModel(folder.Path("m")).network), ParameterBytes(model.network));
}

TEST(Model, WeightsInFewBitsAreKept) {
  const TemporaryFolder folder;
  for (const std::string& name : WeightStorageNames()) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const WeightStorage storage = ParseWeightStorage(name);
      const Model model = WithWeights(ModelOf(dtype), storage);
      SaveModel(folder.Path("m"), model);
      const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
      EXPECT_EQ(file.tensors().at("layer.1.weight").dtype, StoredType(storage, dtype));
      EXPECT_EQ(file.tensors().at("layer.1.bias").dtype, dtype);
      EXPECT_EQ(file.tensors().contains("layer.1.weight_scale"), storage == WeightStorage::kI8);
      EXPECT_EQ(json::parse(file.metadata().at("lamina"))["format_version"], storage == WeightStorage::kExact ? 1 : 3);
      const Model again = LoadModel(folder.Path("m"));
      EXPECT_EQ(again.weights, storage);
      EXPECT_EQ(ParameterBytes(again.network), ParameterBytes(model.network));
      SaveModel(folder.Path("n"), again);
      EXPECT_EQ(ReadFile(folder.Path("n")), ReadFile(folder.Path("m")));
    }
  }
}

TEST(Model, CentresOfDistancesAreKeptExact) {
  const TemporaryFolder folder;
  Model model;
  model.network = Network(ParseLayers("rbf(radius=3)-radius:5,dot-softmax:2", 3, true), DType::kF32);
  model.network.Initialize(Initialization::kHeNormal, 1);
  SaveModel(folder.Path("m"), WithWeights(model, WeightStorage::kI8));
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  EXPECT_EQ(file.tensors().at("layer.1.weight").dtype, DType::kF32);
  EXPECT_EQ(file.tensors().at("layer.2.weight").dtype, DType::kI8);
  const Network again = LoadModel(folder.Path("m")).network;
  EXPECT_EQ(std::memcmp(again.Weights(0).data, model.network.Weights(0).data, 5 * 3 * sizeof(float)), 0);
}

TEST(Model, WrongWeightsInFewBits) {
  const TemporaryFolder folder;
  const auto expect_bad = [&](WeightStorage storage, const char* tensor, const std::function<void(char*)>& change) {
    SaveModel(folder.Path("m"), WithWeights(ModelOf(DType::kF32), storage));
    const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
    std::map<std::string, TensorView> tensors = file.tensors();
    std::string bytes(tensors.at(tensor).bytes);
    change(bytes.data());
    tensors.at(tensor).bytes = bytes;
    WriteSafetensors(folder.Path("n"), file.metadata(), tensors);
    const Error error = CaughtError([&] { LoadModel(folder.Path("n")); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
    EXPECT_TRUE(Mentions(error.what(), "layer.1.weight")) << error.what();
  };
  for (const float wrong : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), INFINITY, 1e38F, 0.1F}) {
    expect_bad(WeightStorage::kI8, "layer.1.weight_scale",
               [&](char* scale) { std::memcpy(scale, &wrong, sizeof(wrong)); });
  }
  expect_bad(WeightStorage::kI8, "layer.1.weight", [](char* byte) { *byte = -128; });
  for (const WeightStorage storage : {WeightStorage::kBF16, WeightStorage::kF16}) {
    expect_bad(storage, "layer.1.weight", [](char* half) { half[1] = 0x7F, half[0] = static_cast<char>(0xFF); });
  }
  EXPECT_EQ(EditError([](json& node) { node["network"]["weights"] = "i9"; }).code(), ErrorCode::kBadModel);
  EXPECT_EQ(EditError([](json& node) { node["network"]["weights"] = "i8"; }).code(), ErrorCode::kBadModel);
}

Model ModelWithRadii(DType dtype) {
  Model model;
  model.network = Network(ParseLayers("rbf(radius=3)-radius:5,dot-softmax:2", 3, true), dtype);
  model.network.Initialize(Initialization::kHeNormal, 1);
  DispatchFloat(dtype, [&]<class T>(T) { static_cast<T*>(model.network.Radii(0))[4] = T(0.7); });
  return model;
}

TEST(Model, TrainedRadiiAreKept) {
  const TemporaryFolder folder;
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Model model = ModelWithRadii(dtype);
    SaveModel(folder.Path("m"), model);
    const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
    EXPECT_EQ(file.Require("layer.1.radius", dtype, {5}).bytes.size(), static_cast<size_t>(5 * DTypeSize_bytes(dtype)));
    EXPECT_FALSE(file.tensors().contains("layer.1.bias"));
    EXPECT_EQ(json::parse(file.metadata().at("lamina"))["format_version"], 2);
    const Model again = LoadModel(folder.Path("m"));
    EXPECT_EQ(again.network.layers(), model.network.layers());
    EXPECT_EQ(ParameterBytes(again.network), ParameterBytes(model.network));
  }
  SaveModel(folder.Path("m"), ModelOf(DType::kF32));
  EXPECT_EQ(json::parse(SafetensorsFile::Read(folder.Path("m")).metadata().at("lamina"))["format_version"], 1)
      << "older laminas read files without radii";
}

TEST(Model, WrongRadii) {
  const TemporaryFolder folder;
  for (const float wrong :
       {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Model model = ModelWithRadii(DType::kF32);
    static_cast<float*>(model.network.Radii(0))[2] = wrong;
    SaveModel(folder.Path("m"), model);
    const Error error = CaughtError([&] { LoadModel(folder.Path("m")); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_TRUE(Mentions(error.what(), "layer.1.radius"));
  }
  const auto edited = [&](const json& value) {
    const std::string content = Edited(folder, ModelWithRadii(DType::kF32),
                                       [&](json& node) { node["network"]["layers"][1]["trained_radius"] = value; });
    return CaughtError([&] { ParseModel(content); }).code();
  };
  EXPECT_EQ(edited(true), ErrorCode::kBadModel) << "softmax has no radius, and there is no tensor";
  EXPECT_EQ(edited("yes"), ErrorCode::kBadModel);
}

TEST(Model, CustomActivationsMustBeSupplied) {
  const TemporaryFolder folder;
  const Activation custom[] = {Activation::Custom<Softplus>()};
  SaveModel(folder.Path("m"), ModelOf(DType::kF32, custom[0]));
  EXPECT_EQ(LoadModel(folder.Path("m"), custom).network.layers()[0].activation, custom[0]);
  const Error error = CaughtError([&] { LoadModel(folder.Path("m")); });
  EXPECT_EQ(error.code(), ErrorCode::kBadModel);
  EXPECT_TRUE(Mentions(error.what(), "unknown activation"));
  EXPECT_TRUE(Mentions(error.what(), "my_softplus"));
  EXPECT_EQ(error.context().file, folder.Path("m"));
}

TEST(Model, VersionsAreTold) {
  const Error newer = EditError([](json& node) { node["format_version"] = kModelFormatVersion + 1; });
  EXPECT_TRUE(Mentions(newer.what(), "Use a newer lamina."));
  EXPECT_TRUE(Mentions(newer.what(), std::to_string(kModelFormatVersion + 1)));
  EXPECT_TRUE(Mentions(EditError([](json& node) { node["format_version"] = (int64_t{1} << 32) + 1; }).what(), "newer"));
  for (const json& version : {json(0), json(-1), json("1"), json(1.5), json(nullptr), json(true), json::array()}) {
    EditError([&](json& node) { node["format_version"] = version; });
  }
}

TEST(Model, WrongDescriptions) {
  for (const char* key : {"format_version", "network", "loss", "preprocessor", "training"}) {
    EXPECT_TRUE(Mentions(EditError([&](json& node) { node.erase(key); }).what(), key));
  }
  for (const char* key : {"inputs", "outputs", "synapse", "activation", "bias"}) {
    EXPECT_TRUE(Mentions(EditError([&](json& node) { node["network"]["layers"][1].erase(key); }).what(), key));
    EditError([&](json& node) { node["network"]["layers"][1][key] = nullptr; });
    EditError([&](json& node) { node["network"]["layers"][1][key] = json::array({1}); });
  }
  EXPECT_TRUE(Mentions(EditError([](json& node) { node["network"]["layers"][0]["activation"] = "tahn"; }).what(),
                       "Did you mean 'tanh'?"));
  EditError([](json& node) { node["network"]["layers"][0]["activation"] = "softmax"; });
  EditError([](json& node) { node["network"]["layers"][0]["synapse"] = "l7"; });
  EditError([](json& node) { node["network"]["layers"] = json::array(); });
  EditError([](json& node) { node["network"]["layers"] = 3; });
  EditError([](json& node) { node["network"]["dtype"] = "f64"; });
  EditError([](json& node) { node["network"]["dtype"] = "bf16"; });
  EditError([](json& node) { node["network"]["dtype"] = "float"; });
  EditError([](json& node) { node["loss"] = "hinge"; });
  EditError([](json& node) { node["network"]["layers"].erase(1); });
  EditError([](json& node) { node = json::array(); });
  EditError([](json& node) { node["preprocessor"] = 5; });
  EXPECT_TRUE(Mentions(EditError([](json& node) { node["network"]["members"] = INT64_MAX; }).what(), "too large"));
  EXPECT_TRUE(Mentions(EditError([](json& node) { node["nearest"] = 2; }).what(), "nearest rows"));
}

TEST(Model, PartsThatDoNotFitTheNetwork) {
  const json widths = json::array({1.0, 1.0});
  for (const json& intervals : {json{{"level", 1.5}, {"rows", 9}, {"half_widths", widths}},
                                json{{"level", 0.9}, {"rows", 9}, {"half_widths", {1.0, 1.0, 1.0, 1.0, 1.0}}},
                                json{{"level", 0.9}, {"rows", 9}, {"half_widths", {-1.0, 1.0}}}}) {
    EXPECT_TRUE(Mentions(EditError([&](json& node) { node["intervals"] = intervals; }).what(), "intervals do not fit"));
  }
  const json profile = {{"rows", 20}, {"columns", json::array()}};
  EXPECT_TRUE(Mentions(EditError([&](json& node) { node["data_profile"] = profile; }).what(), "profile"));
}

TEST(Model, OwnActivationsHaveNoOperatorOfOnnx) {
  const Error error = CaughtError([] { ToOnnx(ModelOf(DType::kF32, Activation::Custom<Softplus>())); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_TRUE(Mentions(error.what(), "no operator for this activation"));
}

// Nothing is allocated before the file has shown that it holds the weights.
TEST(Model, LayersThatClaimTheMoon) {
  for (const int64_t size : {int64_t{1'000'000}, int64_t{1'000'000'000'000}, INT64_MAX}) {
    const Error error = EditError([&](json& node) {
      node["network"]["layers"][0]["inputs"] = size;
      node["network"]["layers"][0]["outputs"] = size;
    });
    EXPECT_TRUE(Mentions(error.what(), "tensor layer.1.weight")) << error.what();
  }
  for (const json& size : {json(0), json(-3), json(3.5), json(1e300), json("3"), json(UINT64_MAX)}) {
    EditError([&](json& node) { node["network"]["layers"][0]["inputs"] = size; });
  }
}

TEST(Model, DeepDescriptionsAreErrorsAndNoStackOverflow) {
  const TemporaryFolder folder;
  SaveModel(folder.Path("m"), ModelOf(DType::kF32));
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  std::string text = file.metadata().at("lamina");
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  text.insert(text.size() - 1, ",\"deep\":" + deep);
  WriteSafetensors(folder.Path("m"), {{"lamina", text}}, file.tensors());
  EXPECT_TRUE(Mentions(CaughtError([&] { LoadModel(folder.Path("m")); }).what(), "nested deeper"));
}

TEST(Model, MissingAndForeignParts) {
  const TemporaryFolder folder;
  SaveModel(folder.Path("m"), ModelOf(DType::kF32));
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  for (const auto& [name, tensor] : file.tensors()) {
    std::map<std::string, TensorView> fewer = file.tensors();
    fewer.erase(name);
    WriteSafetensors(folder.Path("n"), file.metadata(), fewer);
    EXPECT_TRUE(Mentions(CaughtError([&] { LoadModel(folder.Path("n")); }).what(), name + " is missing"));
  }
  WriteSafetensors(folder.Path("n"), {}, file.tensors());
  EXPECT_TRUE(Mentions(CaughtError([&] { LoadModel(folder.Path("n")); }).what(), "not a lamina model"));
  for (const char* text : {"", "x", "{", "[]", "{\"format_version\":NaN}", "{\"format_version\":1}"}) {
    WriteSafetensors(folder.Path("n"), {{"lamina", text}}, file.tensors());
    EXPECT_EQ(CaughtError([&] { LoadModel(folder.Path("n")); }).code(), ErrorCode::kBadModel) << text;
  }
  EXPECT_EQ(CaughtError([&] { LoadModel(folder.Path("none")); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(CaughtError([&] { LoadModel(folder.Path()); }).code(), ErrorCode::kIo);
}

TEST(Model, AFailedSaveLeavesTheOldModelAndNothingElse) {
  const TemporaryFolder folder;
  SaveModel(folder.Path("m"), ModelOf(DType::kF32));
  const std::string before = ReadFile(folder.Path("m"));
  EXPECT_EQ(CaughtError([&] { SaveModel("/dev/full", ModelOf(DType::kF32)); }).code(), ErrorCode::kIo);
  EXPECT_EQ(CaughtError([&] { SaveModel(folder.Path(), ModelOf(DType::kF32)); }).code(), ErrorCode::kIo);
  EXPECT_THROW(SaveModel(folder.Path("no/such/folder"), ModelOf(DType::kF32)), Error);
  EXPECT_EQ(ReadFile(folder.Path("m")), before);
  EXPECT_EQ(folder.Count(), 1);
}

// A checkpoint has every part a file can have.
std::string CheckpointBytes() {
  const TemporaryFolder folder;
  const Model model = ModelOf(DType::kF32);
  TrainState state;
  state.parameters = AlignedBuffer(model.network.parameter_bytes());
  state.best_parameters = AlignedBuffer(model.network.parameter_bytes());
  state.optimiser.emplace_back(model.network.parameter_bytes());
  SaveCheckpoint(folder.Path("c"), model, state, 1);
  return ReadFile(folder.Path("c"));
}

// Anything but an Error ends the test program or fails the test.
bool Loads(const std::string& content) {
  try {
    ParseModel(content);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
    EXPECT_FALSE(error.context().file.empty()) << error.what();
    return false;
  }
}

TEST(Model, CutShortAnywhereIsAnError) {
  const std::string whole = CheckpointBytes();
  EXPECT_TRUE(Loads(whole));
  for (size_t size = 0; size < whole.size(); size += 8) {
    EXPECT_FALSE(Loads(whole.substr(0, size))) << size;
  }
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    EXPECT_FALSE(Loads(whole.substr(0, random.Below(whole.size()))));
  }
  EXPECT_FALSE(Loads(whole + '\0'));
}

// One to four bytes changed, inserted or removed, mostly in the header.
std::string Mutated(const std::string& whole, Random& random) {
  std::string content = whole;
  for (uint64_t n = random.Below(4) + 1; n > 0; --n) {
    const size_t at = random.Below(random.Below(4) == 0 ? content.size() : std::min<size_t>(3000, content.size()));
    constexpr std::string_view kTelling = "[]{}\",:-.0123456789eE\\ntf\xFF";
    const char byte =
        random.Below(2) == 0 ? kTelling[random.Below(kTelling.size())] : static_cast<char>(random.Below(256));
    switch (random.Below(4)) {
      case 0: content.insert(at, 1, byte); break;
      case 1: content.erase(at, 1); break;
      default: content[at] = byte; break;
    }
  }
  return content;
}

TEST(Model, RandomDamageNeverCrashes) {
  const TemporaryFolder folder;
  const std::string whole = CheckpointBytes();
  Random random(2);
  for (int tried = 0; tried < (kThin ? 400 : 4000); ++tried) {
    const std::string content = Mutated(whole, random);
    Loads(content);
    if (tried % 16 == 0) {
      WriteFileAtomically(folder.Path("c"), content);
      try {
        LoadCheckpoint(folder.Path("c"));
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace lamina
