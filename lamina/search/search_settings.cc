// What a search is made from.
#include "lamina/search/search_settings.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/names.h"
#include "lamina/search/search_space.h"

namespace lamina {
namespace {

struct OwnWriter {
  nlohmann::json& node;
  void Group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*) {
    if (!node.contains(name)) {  // those of training are there
      if constexpr (requires { field.has_value(); }) {
        return;
      } else {
        node[name] = field;
      }
    }
  }
};

[[noreturn]] void Refuse(std::string message, std::string value, std::string remedy = "") {
  throw Error(ErrorCode::kInvalidArgument, std::move(message),
              {.value = std::move(value), .remedy = std::move(remedy)});
}

void ValidateFiles(const SearchSettings& settings) {
  const TrainSettings& train = settings.train;
  if (!train.checkpoint.empty() || train.checkpoint_epochs > 0) {
    Refuse("--checkpoint is of one training; a search keeps its state with --state FOLDER", train.checkpoint);
  }
  if (!settings.retrain && (!train.model.empty() || !train.history.empty() || !train.history_json.empty())) {
    Refuse("--model and --history are written by --retrain", train.model,
           "Add --retrain, or train with the line that is printed at the end.");
  }
  if (settings.retrain && train.model.empty()) {
    Refuse("--retrain needs --model FILE", "");
  }
  if (settings.retrain && !train.validation.empty()) {
    Refuse("--retrain joins training and validation rows of one file, and --validation is another one",
           train.validation, "Leave --retrain out, or use --split.");
  }
}

}  // namespace

nlohmann::json ToJson(const SearchSettings& settings) {
  nlohmann::json node = ToJson(settings.train);
  OwnWriter writer{node};
  VisitSearchSettings(settings, writer);
  return node;
}

void ValidateSearch(const SearchSettings& settings) {
  if (settings.train.data.empty()) {
    Refuse("no training data", "", "Give --data FILE.");
  }
  if (settings.random < 0) {
    Refuse("--random must be 0 (the whole grid) or positive", fmt::format("{}", settings.random));
  }
  if (!(settings.halving == 0 || (settings.halving > 1 && std::isfinite(settings.halving)))) {
    Refuse("--halving must be 0 (off) or above 1", fmt::format("{}", settings.halving));
  }
  if (settings.first_epochs < 0) {
    Refuse("--first-epochs must be 0 or positive", fmt::format("{}", settings.first_epochs));
  }
  if (settings.at_once < 0 || settings.at_once > 4096) {
    Refuse("--at-once must be from 0 to 4096", fmt::format("{}", settings.at_once));
  }
  IndexOfName(settings.metric, std::vector<std::string>{"auto", "accuracy", "loss"}, "--metric: unknown choice");
  const SearchSpace space(settings.vary);
  for (const char* name : {"loss", "target-scale", "target-values"}) {
    if (settings.metric == "loss" && space.Varies(name)) {
      Refuse(fmt::format("--metric loss cannot compare trials of different {}", name), settings.metric,
             "Use --metric accuracy, or search one of them at a time.");
    }
  }
  const std::vector<double>& split = settings.train.split;
  if (split.size() == 3 && split[1] == 0 && settings.train.validation.empty()) {
    Refuse("a search compares trials on validation rows, and --split leaves none",
           fmt::format("{}", fmt::join(split, ",")), "For example --split 0.8,0.2,0.");
  }
  ValidateFiles(settings);
}

}  // namespace lamina
