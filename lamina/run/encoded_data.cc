// The folder: encoded.json, written last, and the arrays it describes. It is made under another name and renamed.
#include "lamina/run/encoded_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/part_folder.h"
#include "lamina/base/sha256.h"
#include "lamina/base/stop.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/checked_json.h"
#include "lamina/model/drift.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/encode_files.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"
#include "lamina/settings/recipe.h"
#include "lamina/settings/settings_text.h"
#include "lamina/settings/validation.h"

namespace lamina {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;
constexpr const char* kAgain = "Encode the data again with lamina data encode.";

// Rows of TrainSettings that say what encoded data are.
bool DescribesData(const Setting<TrainSettings>& row) {
  constexpr std::string_view kOfTheRun[] = {"data", "memory", "cost-matrix"};
  return row.name == "dtype" || (row.group == kDataGroup && std::find(std::begin(kOfTheRun), std::end(kOfTheRun),
                                                                      row.name) == std::end(kOfTheRun));
}

// Seconds since the epoch, with a fraction.
double ModifiedAt(const std::string& path) {
  return std::chrono::duration<double>(fs::last_write_time(path).time_since_epoch()).count();
}

json DescribeSources(const TrainSettings& settings) {
  json sources = json::array();
  for (const std::string* data : {&settings.data, &settings.test, &settings.validation}) {
    for (const std::string& path : data->empty() ? std::vector<std::string>() : DataFiles(*data)) {
      std::string sha256 = Sha256OfFile(path);  // first, as it names a file that cannot be read
      sources.push_back({{"path", fs::absolute(path).string()},
                         {"bytes", fs::file_size(path)},
                         {"modified", ModifiedAt(path)},
                         {"sha256", std::move(sha256)}});
    }
  }
  return sources;
}

// Files that are gone, or not of this machine, cannot have changed.
void RequireSameSources(const json& sources, const std::string& folder) {
  for (const json& source : sources) {
    const auto path = source.at("path").get<std::string>();
    std::error_code absent;
    const auto size = fs::file_size(path, absent);
    if (absent ||
        (size == source.at("bytes").get<uint64_t>() && ModifiedAt(path) == source.at("modified").get<double>())) {
      continue;
    }
    if (size != source.at("bytes").get<uint64_t>() || Sha256OfFile(path) != source.at("sha256").get<std::string>()) {
      throw Error(ErrorCode::kBadData, "has changed since it was encoded into " + folder,
                  {.file = path, .remedy = kAgain});
    }
  }
}

json ReportToJson(const EncodeReport& report) {
  json labels = json::array();
  for (const EncodeReport::NewLabel& label : report.new_labels) {
    labels.push_back({label.name, label.class_name, label.rows});
  }
  return {{"unseen_values", report.unseen_values},
          {"unseen_columns", report.unseen_columns},
          {"filled_values", report.filled_values},
          {"filled_columns", report.filled_columns},
          {"far_values", report.far_values},
          {"far_columns", report.far_columns},
          {"new_labels", std::move(labels)},
          {"validation_rows_in_training", report.validation_rows_in_training},
          {"test_rows_in_training", report.test_rows_in_training}};
}

EncodeReport ReportFrom(const json& node) {
  EncodeReport report;
  report.unseen_values = node.at("unseen_values");
  report.unseen_columns = node.at("unseen_columns");
  report.filled_values = node.at("filled_values");
  report.filled_columns = node.at("filled_columns");
  report.far_values = node.at("far_values");
  report.far_columns = node.at("far_columns");
  for (const json& label : node.at("new_labels")) {
    report.new_labels.push_back({label.at(0), label.at(1), label.at(2)});
  }
  report.validation_rows_in_training = node.at("validation_rows_in_training");
  report.test_rows_in_training = node.at("test_rows_in_training");
  return report;
}

// The fingerprint of training and validation rows, by what the manifest says of their files.
uint64_t FingerprintOf(const json& parts) {
  uint64_t hash = kHashStart;
  for (const char* part : {"train", "validation"}) {
    for (const auto& [array, facts] : parts.at(part).items()) {
      const std::string known = fmt::format("{}/{}:{}", part, array, facts.at("checksum").get<std::string>());
      hash = HashBytes(hash, known.data(), std::ssize(known));
    }
  }
  return hash;
}

constexpr std::string_view kParts[] = {"train", "validation", "test"};
constexpr const char* kFormat = "lamina encoded data";

bool IsFileOfEncodedData(std::string_view name) {
  return name == kEncodedManifest || std::any_of(std::begin(kParts), std::end(kParts),
                                                 [&](std::string_view part) { return IsFileOfPart(name, part); });
}

// Whether there is nothing at `path`, an empty folder, or encoded data, also damaged ones.
bool IsFreeForEncodedData(const fs::path& path) {
  std::error_code failed;
  if (!fs::exists(path, failed) || (fs::is_directory(path, failed) && fs::is_empty(path, failed))) {
    return true;
  }
  try {
    const std::string manifest = (path / kEncodedManifest).string();
    return ParseUntrustedJson(ReadFile(manifest), manifest).value("format", "") == kFormat;
  } catch (const Error&) {
    return false;
  } catch (const json::exception&) {  // JSON of another kind
    return false;
  }
}

}  // namespace

bool IsEncodedData(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && fs::is_regular_file(fs::path(path) / kEncodedManifest, ignored);
}

bool DecidesEncoding(const Setting<TrainSettings>& row) {
  constexpr std::string_view kOthers[] = {"data", "memory", "recipe", "loss", "quantiles", "seed"};
  return DescribesData(row) || std::find(std::begin(kOthers), std::end(kOthers), row.name) != std::end(kOthers);
}

namespace {

// An absolute path without a slash at the end; throws where something else is there.
fs::path FolderFor(const std::string& path) {
  const fs::path whole = fs::weakly_canonical(fs::absolute(path)).lexically_normal();
  fs::path target = whole.has_filename() ? whole : whole.parent_path();
  if (!IsFreeForEncodedData(target)) {
    throw Error(ErrorCode::kIo, "is there, and holds something else than encoded data",
                {.file = path, .remedy = "Give another name."});
  }
  return target;
}

// Encodes the parts into files of the folder, in pieces of so much memory.
EncodeRows IntoFilesOf(const std::string& folder, int64_t memory_bytes) {
  return [folder, memory_bytes, part = size_t{0}](const BoundTable& table, std::span<const int64_t> rows, DType dtype,
                                                  EncodeReport* report) mutable {
    // A row is in memory twice: in the columns that it comes from, and encoded.
    const Preprocessor& fitted = table.preprocessor();
    const int64_t row_bytes = std::ssize(table.table().columns) * static_cast<int64_t>(sizeof(double)) +
                              (fitted.inputs().count() + fitted.targets().count()) * DTypeSize_bytes(dtype);
    const int64_t piece_rows = std::max<int64_t>(64, memory_bytes / row_bytes);
    return EncodeIntoFiles(table, rows, dtype, report, folder, std::string(kParts[part++]), piece_rows);
  };
}

// The folder's description, but for its settings and sources.
json ManifestOf(const TrainData& data, const DataProfile& profile, const std::string& folder) {
  json decisions = json::array();
  for (const ColumnDecision& decision : data.decisions) {
    decisions.push_back({decision.column, decision.what, decision.otherwise});
  }
  json parts = json::object();
  for (const std::string_view name : kParts) {
    parts[std::string(name)] = DescribeFiles(folder, std::string(name));
  }
  return {{"format", kFormat},
          {"version", kVersion},
          {"lamina_version", Version()},
          {"preprocessor", data.preprocessor.ToJson()},
          {"parts", std::move(parts)},
          {"report", ReportToJson(data.report)},
          {"decisions", std::move(decisions)},
          {"left_out_rows", data.left_out_rows},
          {"profile", ToJson(profile)}};
}

}  // namespace

EncodedDataInfo WriteEncodedData(const TrainSettings& given, const std::string& path,
                                 const std::function<bool()>& stop) {
  const Stopwatch watch;
  const StopScope scope([&] { return stop && stop(); });
  constexpr int64_t kUsualPiece_bytes = 64 << 20;
  ValidateSettings(given);
  const int64_t memory_bytes = given.memory.empty() ? kUsualPiece_bytes : ParseBytes(given.memory) / 8;
  const fs::path target = FolderFor(path);
  PartFolder folder(target.string(), IsFileOfEncodedData);
  TrainSettings settings = given;
  json sources = DescribeSources(settings);  // before they are read: what changes meanwhile is seen
  DataSources reading = SourcesFrom(settings);
  reading.read.scratch = target.parent_path().string();
  const RawData raw = ReadRawData(reading);
  settings.recipe = RecipeFor(settings, raw.main.train.is_image);
  const TrainData data = EncodeData(raw, settings, {}, nullptr, {IntoFilesOf(folder.part(), memory_bytes), {}});
  const DataProfile profile =
      ProfileOf(BoundTable(data.preprocessor, raw.main.train), data.preprocessor, data.train.rows);
  WriteSampleWeights(data.train, folder.part(), "train");
  json manifest = ManifestOf(data, profile, folder.part());
  manifest["settings"] = ToJson(settings);
  manifest["is_image"] = raw.main.train.is_image;
  manifest["sources"] = std::move(sources);
  WriteFileAtomically((fs::path(folder.part()) / kEncodedManifest).string(), Sealed(manifest).dump(1) + "\n");
  RequireSameSources(manifest["sources"], path);
  EncodedDataInfo info{.train_rows = data.train.size(),
                       .validation_rows = data.validation.size(),
                       .test_rows = data.test.size(),
                       .left_out_rows = data.left_out_rows,
                       .inputs = data.preprocessor.inputs().count()};
  for (const fs::directory_entry& file : fs::directory_iterator(folder.part())) {
    info.size_bytes += static_cast<int64_t>(file.file_size());
  }
  folder.Commit();
  info.seconds = watch.Elapsed_seconds();
  return info;
}

namespace {

// What the folder's description says, whole and of this version.
json ReadManifest(const std::string& path) {
  json manifest = ParseUntrustedJson(ReadFile(path), path);
  if (!Unseal(manifest)) {
    throw Error(ErrorCode::kBadData, "is damaged: the content does not fit its checksum",
                {.file = path, .remedy = kAgain});
  }
  if (const auto version = manifest.at("version").get<int64_t>(); version != kVersion) {
    throw Error(ErrorCode::kBadData,
                fmt::format("encoded data of version {}, and this lamina reads version {}", version, kVersion),
                {.file = path, .remedy = kAgain});
  }
  return manifest;
}

// Those asked for, with what the data were encoded with; throws where they say something else of the data.
TrainSettings WithThoseOfData(const TrainSettings& settings, const TrainSettings& encoded, bool is_image) {
  const TrainSettings defaults;
  TrainSettings with = settings;
  for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
    const std::string asked = SettingText(settings, row.name);
    const std::string was = SettingText(encoded, row.name);
    if (!DescribesData(row) || asked == was) {
      continue;
    }
    if (asked != SettingText(defaults, row.name)) {
      RefuseSetting(std::string(row.name),
                    fmt::format("--{} is not what {} was encoded with ({})", row.name, settings.data,
                                was.empty() ? "not given" : was),
                    asked, "Leave it out, or encode the data again with it.");
    }
    SetSetting(with, row.name, was);
  }
  with.recipe = RecipeFor(with, is_image);
  if (settings.recipe == kAutoText) {  // any network goes with the data as they are
    with.recipe = with.recipe == kTabularRecipe ? encoded.recipe : with.recipe;
    with.scale = Resolve(encoded)->scale;
  }
  const PreprocessOptions was_fitted = PreprocessOptionsFrom(Resolve(encoded));
  PreprocessOptions fits = PreprocessOptionsFrom(Resolve(with));
  fits.limits_may_go = was_fitted.limits_may_go;  // the data say what their rows told
  fits.find_codes = was_fitted.find_codes;
  fits.text = was_fitted.text;
  if (!(fits == was_fitted)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("recipe and loss scale the data otherwise than {} was encoded", settings.data),
                {.remedy = fmt::format("Encode the data with --recipe {} --loss {}.", with.recipe, with.loss)});
  }
  return with;
}

// The arrays, of the training rows those of `share` where ranks have rows of their own.
void OpenParts(const json& parts, const TrainSettings& settings, const RankShare& share, TrainData& data) {
  ChooseRows of_rank;
  if (settings.shard_data) {
    data.fingerprint = FingerprintOf(parts);
    of_rank = [&](int64_t rows) {
      data.sharded_rows = rows;
      const bool classes = !data.preprocessor.targets().class_names().empty();
      return RowsOfRank(settings, {rows, 0, classes, data.preprocessor.inputs().count()}, share);
    };
  }
  data.train = OpenFiles(parts.at("train"), settings.data, "train", of_rank);
  data.validation = OpenFiles(parts.at("validation"), settings.data, "validation");
  if (!settings.shard_data || share.rank == 0) {
    data.test = OpenFiles(parts.at("test"), settings.data, "test");
  }
}

}  // namespace

EncodedData OpenEncodedData(const TrainSettings& settings, std::span<const Activation> custom,
                            const Preprocessor* fitted, const RankShare& share) {
  if (!LearnsByGradient(settings) || HasOthersBeside(settings) || settings.optimizer == kLbfgs) {
    RefuseSetting("data", "encoded data are for methods that take steps of a batch", settings.data,
                  "Give the data themselves.");
  }
  const std::string path = (fs::path(settings.data) / kEncodedManifest).string();
  EncodedData opened;
  TrainData& data = opened.data;
  const Stopwatch watch;
  try {
    const json manifest = ReadManifest(path);
    RequireSameSources(manifest.at("sources"), settings.data);
    opened.is_image = manifest.at("is_image");
    opened.settings = WithThoseOfData(settings, TrainSettingsFromJson(manifest.at("settings")), opened.is_image);
    data.preprocessor = Preprocessor::FromJson(manifest.at("preprocessor"));
    OpenParts(manifest.at("parts"), opened.settings, share, data);
    data.report = ReportFrom(manifest.at("report"));
    for (const json& decision : manifest.at("decisions")) {
      data.decisions.push_back({decision.at(0), decision.at(1), decision.at(2)});
    }
    data.left_out_rows = manifest.at("left_out_rows");
    opened.profile = DataProfileFrom(manifest.at("profile"));
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadData, fmt::format("is no description of encoded data: {}", error.what()),
                {.file = path, .remedy = kAgain});
  }
  const TargetEncoder& targets = data.preprocessor.targets();
  if (const TargetForm form = FormFor(ResolveFor(opened.settings, targets), targets, custom);
      !(form == targets.form())) {
    data = InForm(data, form);
  }
  if (fitted != nullptr && fitted->ToJson() != data.preprocessor.ToJson()) {
    RefuseSetting("data", "these data are encoded otherwise than the model to go on from wants them", settings.data,
                  "Give the data themselves.");
  }
  data.seconds = watch.Elapsed_seconds();
  return opened;
}

}  // namespace lamina
