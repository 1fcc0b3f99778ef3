// Checkpoints as safetensors with the training state in the metadata.
#include "lamina/train/checkpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/text.h"
#include "lamina/model/checked_json.h"
#include "lamina/model/safetensors.h"

namespace lamina {
namespace {

using nlohmann::json;

constexpr const char* kMetadataKey = "lamina_checkpoint";
constexpr const char* kBestTensor = "checkpoint.best";
constexpr const char* kFrontTensor = "checkpoint.front_scale";

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

// A flat array of the network, with `front_bytes` more of its front scale.
AlignedBuffer FlatFrom(const SafetensorsFile& file, const std::string& name, const Network& network,
                       int64_t front_bytes) {
  const int64_t size_bytes = network.parameter_bytes() + front_bytes;
  const TensorView& tensor = file.Require(name, network.dtype(), {size_bytes / DTypeSize_bytes(network.dtype())});
  AlignedBuffer buffer(size_bytes);
  std::memcpy(buffer.data(), tensor.bytes.data(), tensor.bytes.size());
  return buffer;
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
  std::memcpy(running.network.parameters(), state.parameters.data(), static_cast<size_t>(network_bytes));
  running.preprocessor = model.preprocessor;
  running.loss = model.loss;
  running.training = model.training;
  ModelExtras extras;
  extras.metadata[kMetadataKey] = ToJson(state, data_fingerprint).dump();
  const DType dtype = model.network.dtype();
  if (const int64_t front_bytes = state.parameters.size_bytes() - network_bytes; front_bytes > 0) {
    const char* front = static_cast<const char*>(state.parameters.data()) + network_bytes;
    extras.tensors[kFrontTensor] = {
        dtype, {front_bytes / DTypeSize_bytes(dtype)}, {front, static_cast<size_t>(front_bytes)}};
  }
  if (state.best_parameters.size_bytes() > 0) {
    extras.tensors[kBestTensor] = FlatView(state.best_parameters, dtype);
  }
  for (size_t i = 0; i < state.optimiser.size(); ++i) {
    extras.tensors[StateTensor(i)] = FlatView(state.optimiser[i], dtype);
  }
  SaveModel(path, running, extras);
}

Checkpoint LoadCheckpoint(const std::string& path, std::span<const Activation> custom) {
  return CheckpointFrom(SafetensorsFile::Read(path), path, custom);
}

Checkpoint CheckpointFrom(const SafetensorsFile& file, const std::string& source, std::span<const Activation> custom) {
  Checkpoint checkpoint;
  checkpoint.model = ModelFrom(file, source, custom);
  const auto entry = file.metadata().find(kMetadataKey);
  if (entry == file.metadata().end()) {
    throw Error(ErrorCode::kBadModel, "a finished model, not a checkpoint: it holds no training state",
                {.file = source, .remedy = "Resume from a file written by --checkpoint."});
  }
  try {
    const json node = ParseUntrustedJson(entry->second, source);
    FromJson(node, checkpoint.state);
    checkpoint.data_fingerprint = node.at("data_fingerprint").get<uint64_t>();
    const Network& network = checkpoint.model.network;
    const auto front = file.tensors().find(kFrontTensor);
    int64_t front_bytes = 0;
    if (front != file.tensors().end()) {
      front_bytes = std::ssize(file.Require(kFrontTensor, network.dtype(), {front->second.element_count()}).bytes);
    }
    checkpoint.state.parameters = AlignedBuffer(network.parameter_bytes() + front_bytes);
    std::memcpy(checkpoint.state.parameters.data(), network.parameters(),
                static_cast<size_t>(network.parameter_bytes()));
    if (front_bytes > 0) {
      std::memcpy(static_cast<char*>(checkpoint.state.parameters.data()) + network.parameter_bytes(),
                  front->second.bytes.data(), static_cast<size_t>(front_bytes));
    }
    if (file.tensors().contains(kBestTensor)) {
      checkpoint.state.best_parameters = FlatFrom(file, kBestTensor, network, 0);
    }
    const auto arrays = node.at("optimiser_arrays").get<size_t>();
    for (size_t i = 0; i < arrays; ++i) {
      checkpoint.state.optimiser.push_back(FlatFrom(file, StateTensor(i), network, front_bytes));
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

uint64_t DataFingerprint(const Dataset& train, const Dataset* validation) {
  constexpr int64_t kRows = 1 << 16;  // that are in memory at once, where they come from files
  uint64_t hash = kHashStart;
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
