// Files of models that have several networks.
#include <functional>

#include "gtest/gtest.h"
#include "lamina/model/model.h"
#include "lamina/nn/rounded_network.h"
#include "tests/caught_error.h"
#include "tests/nn/small_data.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

Model SmallEnsemble() { return WithOthers(SmallModel(RandomTable(20, 3, 2, 1), DType::kF32)); }

TEST(EnsembleFile, KeepsItsNetworks) {
  const TemporaryFolder folder;
  for (const WeightStorage storage : {WeightStorage::kExact, WeightStorage::kI8}) {
    const Model model = WithWeights(SmallEnsemble(), storage);
    SaveModel(folder.Path("m"), model);
    const Model again = LoadModel(folder.Path("m"));
    ASSERT_EQ(again.networks(), 3);
    EXPECT_EQ(again.shares, model.shares);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(again.network_at(i).layers(), model.network_at(i).layers());
      EXPECT_EQ(ParameterBytes(again.network_at(i)), ParameterBytes(model.network_at(i)));
    }
    EXPECT_GT(again.stored_bytes(), 2 * StoredBytes(model.network, storage));
  }
}

TEST(EnsembleFile, KeepsItsGates) {
  const TemporaryFolder folder;
  const Model model = WithWeights(WithGates(SmallModel(RandomTable(20, 3, 2, 1), DType::kF32)), WeightStorage::kI8);
  SaveModel(folder.Path("m"), model);
  const Model again = LoadModel(folder.Path("m"));
  ASSERT_TRUE(again.gates.has_value());
  EXPECT_EQ(again.shares, model.shares);
  EXPECT_EQ(ParameterBytes(*again.gates), ParameterBytes(*model.gates));
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  EXPECT_EQ(nlohmann::json::parse(file.metadata().at("lamina"))["format_version"], 9);
  const std::function<void(nlohmann::json&)> edits[] = {
      [](nlohmann::json& node) { node.erase("gates"); }, [](nlohmann::json& node) { node["others"].erase(1); },
      [](nlohmann::json& node) { node["gates"]["layers"][1]["activation"] = "identity"; },
      [](nlohmann::json& node) { node["gates"]["layers"][1]["outputs"] = 2; },
      [](nlohmann::json& node) { node["gates"]["dtype"] = "f64"; }};
  for (const auto& edit : edits) {
    nlohmann::json node = nlohmann::json::parse(file.metadata().at("lamina"));
    edit(node);
    WriteSafetensors(folder.Path("edit"), {{"lamina", node.dump()}}, file.tensors());
    EXPECT_EQ(CaughtError([&] { LoadModel(folder.Path("edit")); }).code(), ErrorCode::kBadModel);
  }
}

TEST(EnsembleFile, IsRefusedWhereItDoesNotFit) {
  const TemporaryFolder folder;
  const Model model = SmallEnsemble();
  SaveModel(folder.Path("m"), model);
  const SafetensorsFile file = SafetensorsFile::Read(folder.Path("m"));
  const std::function<void(nlohmann::json&)> edits[] = {
      [](nlohmann::json& node) { node["shares"][1] = -0.5; },
      [](nlohmann::json& node) { node["shares"][1] = 1.5; },
      [](nlohmann::json& node) { node["shares"][1] = 0.4; },
      [](nlohmann::json& node) { node["shares"].push_back(0.1); },
      [](nlohmann::json& node) { node.erase("shares"); },
      [](nlohmann::json& node) { node["others"].erase(1); },
      [](nlohmann::json& node) { node["others"].push_back(node["others"][0]); },
      [](nlohmann::json& node) { node["others"][0]["layers"][1]["activation"] = "identity"; },
      [](nlohmann::json& node) { node["others"][0]["weights"] = "i8"; },
      [](nlohmann::json& node) { node["others"][0]["layers"][0]["outputs"] = int64_t{1} << 60; },
      [](nlohmann::json& node) { node["nearest"] = 1; }};
  for (const auto& edit : edits) {
    nlohmann::json node = nlohmann::json::parse(file.metadata().at("lamina"));
    edit(node);
    WriteSafetensors(folder.Path("edit"), {{"lamina", node.dump()}}, file.tensors());
    const Error error = CaughtError([&] { LoadModel(folder.Path("edit")); });
    EXPECT_EQ(error.code(), ErrorCode::kBadModel) << error.what();
    EXPECT_EQ(error.context().file, folder.Path("edit")) << error.what();
  }
}

}  // namespace
}  // namespace lamina
