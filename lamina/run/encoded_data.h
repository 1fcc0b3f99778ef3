// Encoded data in a folder: rows as numbers in .npy files, and how they were made of which files. Training then need
// not read and encode them again, nor hold all of them in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "lamina/model/data_profile.h"
#include "lamina/run/train_data.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// Whether `path` is a folder that WriteEncodedData() made.
bool IsEncodedData(const std::string& path);

struct EncodedDataInfo {
  int64_t train_rows = 0;
  int64_t validation_rows = 0;
  int64_t test_rows = 0;
  int64_t left_out_rows = 0;
  int64_t inputs = 0;
  int64_t size_bytes = 0;  // of the folder's files
  double seconds = 0;
};

/// Reads, splits and encodes the data of the settings' kDataGroup (with dtype, recipe and seed) into the folder `path`,
/// as EncodeData(). The folder appears when it is complete, in place of one that was there. CSV files are read and rows
/// encoded in pieces of an eighth of settings.memory (64 MiB where it is empty). Beside them memory holds about 60
/// bytes a row, and 4 for each column of text. A file without a name, beside the folder, holds the numbers meanwhile.
/// `stop`, which may be empty, is asked all the time; if it says so, Stopped (base/stop.h) is thrown. Throws Error,
/// also kIo for a full disk and a folder of something else. Nothing is left then.
EncodedDataInfo WriteEncodedData(const TrainSettings& settings, const std::string& path,
                                 const std::function<bool()>& stop = {});
/// Whether a setting has a say in what encoded data are.
bool DecidesEncoding(const Setting<TrainSettings>& row);

/// What the folder holds: as EncodeData() gave it, features and targets mapped.
struct EncodedData {
  TrainSettings settings;  // those asked for, with those of the data
  TrainData data;
  DataProfile profile;
  bool is_image = false;
};

/// Opens settings.data. Targets of another form than those encoded are made in memory. `fitted`: what a model to go on
/// from wants; null: anything. `share`: the rank of settings.shard_data whose training rows alone are opened; test rows
/// are the first rank's. Throws Error(kInvalidArgument) for methods without steps, and for settings that contradict
/// those of encoding. Throws Error(kBadData) for a folder that is damaged (checksums), incomplete or of another
/// version; also where files that it was made of have changed since.
EncodedData OpenEncodedData(const TrainSettings& settings, std::span<const Activation> custom = {},
                            const Preprocessor* fitted = nullptr, const RankShare& share = {});

}  // namespace lamina
