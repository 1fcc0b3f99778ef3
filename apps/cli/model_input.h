// The flags and the reading that evaluate and predict share: a model and raw rows for it.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "command.h"
#include "lamina/backend/backend.h"
#include "lamina/base/file.h"
#include "lamina/data/files/reader.h"
#include "lamina/model/model.h"
#include "lamina/settings/settings.h"

namespace lamina::cli {

struct ModelInput {
  PlainFiles plain;
  std::string model;
  std::string data;  // "-": standard input
  std::string part = "test";
  TrainSettings reading;  // those of how a file is read
  bool by_position = false;
  int64_t samples = 0;
  std::string backend = "auto";
  int threads = 0;
  std::string missing;  // empty: as the model says
  std::string unseen;
  std::string weights;  // empty: as the file keeps them
  std::string int8;     // rows to measure 8-bit integers on; empty: the network's type

  void AddTo(CLI::App& app);
  /// All flags but those of the model.
  void AddDataTo(CLI::App& app);
  /// Takes the files that were given without flags. Throws CLI::ParseError where one is lacking.
  void TakePlainFiles() { plain.Fill({{"--model", &model}, {"--data", &data}}); }
  /// The files of --model and --data.
  FileUse Files() const;
  /// The model of the file, with the policies that the flags say; its weights as --weights says.
  Model ReadModel() const;
  /// The same with weights as the file has them.
  Model ReadModelOfFile() const;
  std::unique_ptr<Backend> MakeBackend() const;
  /// The rows of `data`, as ReadTableFor().
  /// `kept`: columns that the model does not need are read as text, so that they can be written as they are.
  Table ReadTable(const Model& model, const std::vector<std::string>& kept = {}) const;
  /// The first `samples` rows, or all.
  std::vector<int64_t> RowsOf(const Table& table) const;
};

/// --weights: the name of a WeightStorage, empty where it is not given.
void AddWeightsTo(CLI::App& app, std::string& weights, const std::string& by_default);

}  // namespace lamina::cli
