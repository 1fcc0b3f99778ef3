// Checkpoints as safetensors with the training state in the metadata.
#include "lamina/run/checkpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"
#include "lamina/model/safetensors.h"
#include "lamina/settings/removed_settings.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "lamina_checkpoint";
constexpr const char* kBestTensor = "checkpoint.best";
constexpr const char* kTrainedTensor = "checkpoint.trained";
constexpr const char* kFrontTensor = "checkpoint.front_scale";  // of earlier programs, which kept the unfolded weights

std::string StateTensor(size_t i) { return fmt::format("checkpoint.optimiser.{}", i); }

json ToJson(const TrainState& state, uint64_t fingerprint) {
  return {{"epoch", state.epoch},
          {"step", state.step},
          {"sum_loss", state.sums.loss},
          {"sum_weight", state.sums.weight},
          {"sum_correct", state.sums.correct},
          {"sum_samples", state.sums.samples},
          {"epoch_seconds", state.epoch_seconds},
          {"updates", state.updates},
          {"reductions", state.reductions},
          {"epochs_since_best", state.epochs_since_best},
          {"epochs_since_reduction", state.epochs_since_reduction},
          {"best_loss", state.best_loss},
          {"optimiser_arrays", state.optimiser.size()},
          {"history", state.history.ToJson()},
          {"data_fingerprint", fingerprint}};
}

void FromJson(const json& node, TrainState& state) {
  state.epoch = IntegerAt(node, "epoch");
  state.step = IntegerAt(node, "step");
  node.at("sum_loss").get_to(state.sums.loss);
  node.at("sum_weight").get_to(state.sums.weight);
  state.sums.correct = IntegerAt(node, "sum_correct");
  state.sums.samples = IntegerAt(node, "sum_samples");
  node.at("epoch_seconds").get_to(state.epoch_seconds);
  state.updates = IntegerAt(node, "updates");
  state.reductions = IntegerAt(node, "reductions");
  state.epochs_since_best = IntegerAt(node, "epochs_since_best");
  state.epochs_since_reduction = IntegerAt(node, "epochs_since_reduction");
  node.at("best_loss").get_to(state.best_loss);
  state.history = History::FromJson(node.at("history"));
}

// A flat parameter-like array, gaps included.
TensorView FlatView(const AlignedBuffer& buffer, DType dtype) {
  const int64_t count = buffer.size_bytes() / DTypeSize_bytes(dtype);
  return {dtype, {count}, {static_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size_bytes())}};
}

// A flat array of `size_bytes`.
AlignedBuffer FlatFrom(const SafetensorsFile& file, const std::string& name, DType dtype, int64_t size_bytes) {
  const TensorView& tensor = file.Require(name, dtype, {size_bytes / DTypeSize_bytes(dtype)});
  AlignedBuffer buffer(size_bytes);
  std::memcpy(buffer.data(), tensor.bytes.data(), tensor.bytes.size());
  return buffer;
}

// What was trained, which is more than the network's parameters where some of it is folded into them.
void TakeTrained(const SafetensorsFile& file, const Network& network, TrainState& state) {
  AlignedBuffer own(network.parameter_bytes());
  std::memcpy(own.data(), network.parameters(), static_cast<size_t>(own.size_bytes()));
  const auto bytes_of = [&](const char* name) {
    const int64_t count = file.tensors().at(name).element_count();
    return std::ssize(file.Require(name, network.dtype(), {count}).bytes);
  };
  if (file.tensors().contains(kTrainedTensor)) {
    state.parameters = FlatFrom(file, kTrainedTensor, network.dtype(), bytes_of(kTrainedTensor));
    state.answering_parameters = std::move(own);
  } else if (file.tensors().contains(kFrontTensor)) {
    const int64_t front_bytes = bytes_of(kFrontTensor);
    state.parameters = AlignedBuffer(own.size_bytes() + front_bytes);
    std::memcpy(state.parameters.data(), own.data(), static_cast<size_t>(own.size_bytes()));
    std::memcpy(static_cast<char*>(state.parameters.data()) + own.size_bytes(),
                file.tensors().at(kFrontTensor).bytes.data(), static_cast<size_t>(front_bytes));
    state.answering_parameters = std::move(own);
  } else {
    state.parameters = std::move(own);
  }
}

}  // namespace

uint64_t HashBytes(uint64_t hash, const void* data, int64_t size_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  int64_t i = 0;
  for (; i + 8 <= size_bytes; i += 8) {  // FNV-1a over 64-bit words
    uint64_t word = 0;
    std::memcpy(&word, bytes + i, 8);
    hash = (hash ^ word) * 0x100000001B3ULL;
  }
  for (; i < size_bytes; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001B3ULL;
  }
  return hash;
}

void SaveCheckpoint(const std::string& path, const Model& model, const TrainState& state, uint64_t data_fingerprint) {
  Model running;
  running.network = Network(model.network.layers(), model.network.dtype(), model.network.members());
  const int64_t network_bytes = running.network.parameter_bytes();
  const bool folds = state.answering_parameters.size_bytes() > 0;
  const AlignedBuffer& answering = folds ? state.answering_parameters : state.parameters;
  std::memcpy(running.network.parameters(), answering.data(), static_cast<size_t>(network_bytes));
  running.preprocessor = model.preprocessor;
  running.loss = model.loss;
  running.training = model.training;
  ModelExtras extras;
  extras.metadata[kMetadataKey] = ToJson(state, data_fingerprint).dump();
  const DType dtype = model.network.dtype();
  if (folds) {
    extras.tensors[kTrainedTensor] = FlatView(state.parameters, dtype);
  }
  if (state.best_parameters.size_bytes() > 0) {
    extras.tensors[kBestTensor] = FlatView(state.best_parameters, dtype);
  }
  for (size_t i = 0; i < state.optimiser.size(); ++i) {
    extras.tensors[StateTensor(i)] = FlatView(state.optimiser[i], dtype);
  }
  SaveModel(path, running, extras);
}

bool IsCheckpoint(const std::string& path) {
  try {
    return SafetensorsFile::MetadataOf(path).contains(kMetadataKey);
  } catch (const Error&) {  // it says what else it is
    return false;
  }
}

Checkpoint LoadCheckpoint(const std::string& path, std::span<const Activation> custom) {
  return CheckpointFrom(SafetensorsFile::Read(path), path, custom);
}

Checkpoint CheckpointFrom(const SafetensorsFile& file, const std::string& source, std::span<const Activation> custom) {
  Checkpoint checkpoint;
  checkpoint.path = source;
  checkpoint.model = ModelFrom(file, source, custom);
  const auto entry = file.metadata().find(kMetadataKey);
  if (entry == file.metadata().end()) {
    throw Error(ErrorCode::kBadModel, "a finished model, not a checkpoint: it holds no training state",
                {.file = source, .remedy = "Resume from a file written by --checkpoint."});
  }
  RefuseRemoved(checkpoint.model.training.value("settings", json::object()), source);
  try {
    const json node = ParseUntrustedJson(entry->second, source);
    FromJson(node, checkpoint.state);
    checkpoint.data_fingerprint = node.at("data_fingerprint").get<uint64_t>();
    const Network& network = checkpoint.model.network;
    TakeTrained(file, network, checkpoint.state);
    if (file.tensors().contains(kBestTensor)) {
      checkpoint.state.best_parameters = FlatFrom(file, kBestTensor, network.dtype(), network.parameter_bytes());
    }
    const auto arrays = node.at("optimiser_arrays").get<size_t>();
    for (size_t i = 0; i < arrays; ++i) {
      checkpoint.state.optimiser.push_back(
          FlatFrom(file, StateTensor(i), network.dtype(), checkpoint.state.parameters.size_bytes()));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadModel, fmt::format("the training state is wrong: {}", WithoutTag(error.what())),
                {.file = source});
  } catch (const Error& error) {
    if (!error.context().file.empty()) {
      throw;
    }
    throw Error(ErrorCode::kBadModel, fmt::format("the training state is wrong: {}", error.message()),
                {.file = source, .value = error.context().value});
  }
  return checkpoint;
}

uint64_t DataFingerprint(const Dataset& train, const Dataset* validation, uint64_t hash) {
  constexpr int64_t kRows = 1 << 16;  // that are in memory at once, where they come from files
  for (const Dataset* set : {&train, validation}) {
    if (set == nullptr) {
      continue;
    }
    for (const Matrix* matrix : {&set->features, &set->targets}) {
      const int64_t row_bytes = matrix->cols() * DTypeSize_bytes(matrix->dtype());
      for (int64_t begin = 0; begin < matrix->rows(); begin += kRows) {
        const int64_t count = std::min(kRows, matrix->rows() - begin);
        hash = HashBytes(hash, static_cast<const char*>(matrix->data()) + begin * row_bytes, count * row_bytes);
        set->Release(begin, count);
      }
    }
    hash =
        HashBytes(hash, set->sample_weights.data(), static_cast<int64_t>(set->sample_weights.size() * sizeof(double)));
  }
  return hash;
}

}  // namespace lamina
