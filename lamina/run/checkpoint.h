// Checkpoints: a model file that also holds the state of training.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lamina/data/encode/dataset.h"
#include "lamina/model/model.h"
#include "lamina/train/trainer.h"

namespace lamina {

struct Checkpoint {
  Model model;  // its network holds the running weights
  TrainState state;
  uint64_t data_fingerprint = 0;
  std::string path;  // of the file that it was read from
};

/// Writes `model` with the parameters of `state`, and the state, all or nothing. The file is also a model file.
void SaveCheckpoint(const std::string& path, const Model& model, const TrainState& state, uint64_t data_fingerprint);

/// Whether the file at `path` begins as one, whole or not.
bool IsCheckpoint(const std::string& path);
/// Throws Error(kNotFound | kIo | kBadModel); a model file without training state is told apart.
Checkpoint LoadCheckpoint(const std::string& path, std::span<const Activation> custom = {});
Checkpoint CheckpointFrom(const SafetensorsFile& file, const std::string& source,
                          std::span<const Activation> custom = {});

/// FNV-1a over words of 64 bits and the bytes that are left, going on from `hash`, at first kHashStart. Pieces of whole
/// words give what all of it at once gives.
inline constexpr uint64_t kHashStart = 0xCBF29CE484222325ULL;
uint64_t HashBytes(uint64_t hash, const void* data, int64_t size_bytes);

/// A hash of the encoded rows, to notice that a run is resumed on other data; it goes on from `hash`.
uint64_t DataFingerprint(const Dataset& train, const Dataset* validation, uint64_t hash = kHashStart);

}  // namespace lamina
