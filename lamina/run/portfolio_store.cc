// A file a job: the network, its answers to the rows of its fold, and these rows.
#include "lamina/run/portfolio_store.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/output_folder.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/model/checked_json.h"
#include "lamina/model/model.h"
#include "lamina/run/checkpoint.h"
#include "lamina/run/line_first.h"

namespace lamina {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFile = "run.json";
constexpr const char* kJobKey = "portfolio_job";
constexpr const char* kOutputsTensor = "outputs";
constexpr const char* kRowsTensor = "rows";

bool IsFile(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

TensorView ViewOfNumbers(DType dtype, std::vector<int64_t> shape, const void* first) {
  int64_t size_bytes = DTypeSize_bytes(dtype);
  for (const int64_t extent : shape) {
    size_bytes *= extent;
  }
  return {dtype, std::move(shape), {static_cast<const char*>(first), static_cast<size_t>(size_bytes)}};
}

}  // namespace

PortfolioStore::PortfolioStore(std::string folder, const nlohmann::json& run) : folder_(std::move(folder)) {
  RequireOutputFolder(folder_);
  fs::create_directories(folder_);
  const std::string path = (fs::path(folder_) / kRunFile).string();
  if (!IsFile(path)) {
    WriteFileAtomically(path, run.dump(2) + "\n");
    return;
  }
  const nlohmann::json there = ParseUntrustedJson(ReadFile(path), path);
  if (there == run) {
    return;
  }
  std::string what = "data or settings";
  for (const auto& [key, value] : run.items()) {
    if (!there.is_object() || !there.contains(key) || there[key] != value) {
      what = key;
      break;
    }
  }
  throw Error(ErrorCode::kInvalidArgument, fmt::format("the folder is of a run with other {}", what),
              {.file = folder_, .remedy = "Give another folder with --state, or remove this one.", .setting = "state"});
}

std::string PortfolioStore::PathOf(size_t entry, int64_t place) const {
  return (fs::path(folder_) / fmt::format("model-{:02}-fold-{:02}.safetensors", entry + 1, place + 1)).string();
}

std::unique_ptr<FileClaim> PortfolioStore::Claim(size_t entry, int64_t place) const {
  try {
    return FileClaim::Take(PathOf(entry, place));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo) {
      throw;
    }
    return nullptr;
  }
}

void PortfolioStore::Put(size_t entry, int64_t place, const StoredJob& job) const {
  Model model;
  model.network = job.fold.network;
  if (job.fold.line) {
    model.others = {*job.fold.line};
    model.shares = {1 - kShareOfLine, kShareOfLine};
  }
  ModelExtras extras;
  extras.metadata[kJobKey] = nlohmann::json({{"seconds", job.seconds}, {"left_out", job.left_out}})
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (!job.left_out.empty()) {
    WriteSafetensors(PathOf(entry, place), extras.metadata, {});
    return;
  }
  const Matrix& outputs = job.fold.outputs;
  extras.tensors[kOutputsTensor] = ViewOfNumbers(outputs.dtype(), {outputs.rows(), outputs.cols()}, outputs.data());
  extras.tensors[kRowsTensor] = ViewOfNumbers(DType::kI64, {std::ssize(job.fold.rows)}, job.fold.rows.data());
  SaveModel(PathOf(entry, place), model, extras);
}

std::optional<StoredJob> PortfolioStore::Find(size_t entry, int64_t place) const {
  const std::string path = PathOf(entry, place);
  if (!IsFile(path)) {
    return std::nullopt;
  }
  const SafetensorsFile file = SafetensorsFile::Read(path);
  try {
    const nlohmann::json node = ParseUntrustedJson(file.metadata().at(kJobKey), path);
    StoredJob job{{}, node.at("seconds").get<double>(), node.at("left_out").get<std::string>()};
    if (!job.left_out.empty()) {
      return job;
    }
    Model model = ModelFrom(file, path);
    job.fold.network = std::move(model.network);
    if (!model.others.empty()) {
      job.fold.line = std::move(model.others.front());
    }
    const TensorView& outputs = file.tensors().at(kOutputsTensor);
    const TensorView& rows = file.tensors().at(kRowsTensor);
    const auto count = rows.element_count();
    const DType dtype = job.fold.network.dtype();
    file.Require(kOutputsTensor, dtype, {count, job.fold.network.outputs()});
    file.Require(kRowsTensor, DType::kI64, {count});
    job.fold.rows.resize(static_cast<size_t>(count));
    std::memcpy(job.fold.rows.data(), rows.bytes.data(), rows.bytes.size());
    job.fold.outputs = Matrix(count, job.fold.network.outputs(), dtype);
    std::memcpy(job.fold.outputs.data(), outputs.bytes.data(), outputs.bytes.size());
    return job;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorCode::kBadModel, "is no model of this run", {.file = path, .remedy = "Remove the file."});
  } catch (const std::out_of_range&) {
    throw Error(ErrorCode::kBadModel, "is no model of this run", {.file = path, .remedy = "Remove the file."});
  }
}

PortfolioJobs::PortfolioJobs(int64_t entries, int64_t places, const nlohmann::json& run, const std::string& folder)
    : places_(places), taken_(static_cast<size_t>(entries * places)) {
  if (!folder.empty()) {
    store_.emplace(folder, run);
  }
}

std::optional<PortfolioJob> PortfolioJobs::Next(const std::function<bool(size_t entry)>& ends,
                                                const std::function<bool(size_t entry)>& skipped, bool& waits) {
  waits = false;
  for (size_t i = 0; i < taken_.size(); ++i) {
    PortfolioJob job{i / static_cast<size_t>(places_), static_cast<int64_t>(i) % places_, {}, nullptr};
    if (taken_[i] || skipped(job.entry)) {
      continue;
    }
    if (ends(job.entry)) {
      waits = false;
      return std::nullopt;
    }
    if (store_) {
      job.stored = store_->Find(job.entry, job.place);
      job.claim = job.stored ? nullptr : store_->Claim(job.entry, job.place);
      if (job.claim != nullptr) {  // it may have been ended between the two
        job.stored = store_->Find(job.entry, job.place);
      }
      if (!job.stored && job.claim == nullptr) {
        waits = true;
        continue;
      }
    }
    taken_[i] = true;
    return job;
  }
  return std::nullopt;
}

void PortfolioJobs::Keep(const PortfolioJob& job, const StoredJob& made) const {
  if (store_) {
    store_->Put(job.entry, job.place, made);
  }
}

nlohmann::json RunOf(const TrainSettings& settings, std::span<const PortfolioEntry> entries,
                     const Preprocessor& encoding, const Table& table) {
  TrainSettings same = settings;  // what does not change a model
  same.data = same.model = same.test = same.out_of_fold = same.state = same.time_limit = "";
  same.metrics.clear();
  same.intervals.reset();
  same.threads = TrainSettings().threads;
  same.overwrite = false;
  const BoundTable bound(encoding, table, TableUse::kForTraining);
  const Dataset rows = bound.Encode(AllRowsOf(table), ParseDType(settings.dtype));
  nlohmann::json list = nlohmann::json::array();
  for (const PortfolioEntry& entry : entries) {
    list.push_back({{"name", entry.name}, {"settings", entry.settings}});
  }
  return {{"version", std::string(Version())},
          {"data", fmt::format("{:016x}", DataFingerprint(rows, nullptr))},
          {"settings", ToJson(same)},
          {"models", std::move(list)}};
}

}  // namespace lamina
