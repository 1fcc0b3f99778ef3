// Encoding; the network that fits the data; data shared by many trainings.
#include "lamina/run/train_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "lamina/base/error.h"
#include "lamina/base/hardware.h"
#include "lamina/base/text.h"
#include "lamina/base/timing.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/bound_table.h"
#include "lamina/data/encode/leakage.h"
#include "lamina/data/encode/soft_targets.h"
#include "lamina/model/drift.h"
#include "lamina/rbf/equal_rows.h"
#include "lamina/rbf/mean_distance.h"
#include "lamina/run/checkpoint.h"
#include "lamina/settings/centres.h"
#include "lamina/settings/embedding.h"
#include "lamina/settings/meanings.h"
#include "lamina/settings/method.h"

namespace lamina {
namespace {

// Throws Error for the first row whose target the loss has no answer for. Encoded targets have the signs of raw ones.
// `columns`: what they were read from.
void RequireTargetsOf(const TrainSettings& settings, const TargetEncoder& targets,
                      const std::vector<std::string>& columns, const Table& table, const Dataset& data) {
  if (!LearnsByGradient(settings)) {
    return;
  }
  const Loss loss = LossFrom(settings);
  const bool positive = loss.targets() == LossTargets::kPositive;
  if (!positive && loss.targets() != LossTargets::kNotNegative) {
    return;
  }
  DispatchFloat(data.targets.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < data.size(); ++i) {
      for (int64_t j = 0; j < data.targets.cols(); ++j) {
        const T y = data.targets.Row<T>(i)[j];
        if (y < T(0) || (positive && y == T(0))) {
          const auto column = static_cast<size_t>(j / targets.OutputsOfTarget());
          ThrowCell(table, data.rows[static_cast<size_t>(i)],
                    table.columns[static_cast<size_t>(table.FindColumn(columns[column]))],
                    fmt::format("{} needs targets {}", loss.name(), positive ? "above 0" : "of 0 or more"),
                    "Correct the row or take it out, or use --loss mse.");
        }
      }
    }
  });
  data.Release();
}

// First weights; a first layer of distances starts at rows.
void StartNetwork(const ResolvedSettings& settings, const InputEncoder& inputs, const Dataset& train,
                  Network& network) {
  std::vector<LayerSpec> layers = network.layers();
  LayerSpec& first = layers.front();
  if (IsDistance(first.synapse) && !GivesRadius(settings->layers.substr(0, settings->layers.find(':')))) {
    first.activation = WithRadiusOf(first, train.features.view(), settings->seed);
    network = Network(layers, network.dtype());
  }
  network.Initialize(InitializationFrom(settings, layers), settings->seed);
  if (IsDistance(first.synapse)) {
    PlaceCentres(network, train, settings->seed);
  }
  InputEmbedding(settings, inputs).Start(train.features, settings->seed, network);
  if (LastStartsAtZero(settings)) {
    network.ClearLayer(layers.size() - 1);
  }
}

// The training rows of a rank, with what is known of all; test rows are the first rank's to judge by.
void TakeShare(ShareOfRows share, const RankShare& of, TrainData& data) {
  data.train = std::move(share.own);
  data.sharded_rows = std::ssize(share.all.rows);
  data.all_rows = std::move(share.all.rows);
  const std::vector<double>& weights = share.all.sample_weights;
  if (!weights.empty()) {
    data.train.sample_weights.assign(weights.begin() + share.range.begin, weights.begin() + share.range.end);
  }
  const uint64_t hash = HashBytes(share.fingerprint, weights.data(), std::ssize(weights) * int64_t{sizeof(double)});
  data.fingerprint = DataFingerprint(data.validation, nullptr, hash);
  if (of.rank > 0) {
    data.test = {};
  }
}

constexpr int64_t kWorthSaying_bytes = 1'000'000'000;

// Which inputs or classes take most of it: "50,000 classes of 'city'".
std::string MostOf(const EncodedSize& size, const Preprocessor& preprocessor) {
  const TargetEncoder& targets = preprocessor.targets();
  if (size.target_bytes <= size.input_bytes) {
    return Counted(preprocessor.inputs().count(), "input{s}");
  }
  return targets.class_names().empty()
             ? Counted(targets.count(), "output{s}")
             : fmt::format("{} classes of '{}'", WithThousands(std::ssize(targets.class_names())), targets.names()[0]);
}

}  // namespace

EncodedSize SizeOf(const Preprocessor& preprocessor, int64_t rows, DType dtype) {
  const double value_bytes = static_cast<double>(rows) * static_cast<double>(DTypeSize_bytes(dtype));
  const auto bytes = [&](int64_t columns) {
    return static_cast<int64_t>(std::min(value_bytes * static_cast<double>(columns), 1e18));
  };
  return {rows, bytes(preprocessor.inputs().count()), bytes(preprocessor.targets().count())};
}

std::string MemoryNote(const EncodedSize& size, const Preprocessor& preprocessor) {
  return size.bytes() < kWorthSaying_bytes
             ? ""
             : fmt::format("{} take {} of memory, most of it for the {}", Counted(size.rows, "encoded row{s}"),
                           BytesText(size.bytes()), MostOf(size, preprocessor));
}

void RequireMemoryFor(const EncodedSize& size, const Preprocessor& preprocessor, const std::string& source) {
  if (size.bytes() < kWorthSaying_bytes) {
    return;
  }
  const int64_t usable_bytes = QueryHardware().UsableMemory_bytes();
  if (usable_bytes <= 0 || size.bytes() <= usable_bytes) {  // 0: unknown
    return;
  }
  const bool is_classes = size.target_bytes > size.input_bytes && !preprocessor.targets().class_names().empty();
  throw Error(
      ErrorCode::kResource,
      fmt::format("{} would take {} of memory, most of it for the {}, and {} are free",
                  Counted(size.rows, "encoded row{s}"), BytesText(size.bytes()), MostOf(size, preprocessor),
                  BytesText(usable_bytes)),
      {.file = source,
       .remedy = is_classes
                     ? "Join classes with --class-map, use fewer rows (--samples), or --task regression for numbers."
                     : "Leave columns out (--drop), use fewer rows (--samples), or encode into files: "
                       "lamina data encode."});
}

TrainData InForm(const TrainData& data, const TargetForm& form) {
  const Stopwatch watch;
  TrainData formed;
  formed.preprocessor = data.preprocessor;
  formed.preprocessor.set_form(form);
  const TargetEncoder& targets = formed.preprocessor.targets();
  formed.train = targets.InForm(data.train);
  formed.validation = targets.InForm(data.validation);
  formed.test = targets.InForm(data.test);
  formed.report = data.report;
  formed.decisions = data.decisions;
  formed.left_out_rows = data.left_out_rows;
  formed.sharded_rows = data.sharded_rows;
  formed.all_rows = data.all_rows;
  formed.fingerprint = data.fingerprint;
  formed.seconds = watch.Elapsed_seconds();
  return formed;
}

namespace {

// Throws where the rows of a run do not fit into the memory that is free.
void RequireMemoryOf(const Split& split, const RawData& raw, const Table* test, const Preprocessor& preprocessor,
                     DType dtype) {
  const auto count = [](const Table* other, const std::vector<int64_t>& chosen) {
    return other != nullptr ? other->rows : std::ssize(chosen);
  };
  const int64_t rows = std::ssize(split.train) + count(raw.validation ? &*raw.validation : nullptr, split.validation) +
                       count(test, split.test);
  RequireMemoryFor(SizeOf(preprocessor, rows, dtype), preprocessor, raw.main.train.source);
}

void Weigh(const TrainSettings& settings, const Table& table, Dataset& rows, const TargetEncoder& targets) {
  if (const WeightOptions weights = WeightOptionsFrom(settings); !weights.empty()) {
    rows.sample_weights = SampleWeights(table, rows, targets, weights);
  }
}

// What a kernel machine leaves training rows out by.
void GiveGroups(const TrainSettings& settings, const Table& table, Dataset& train) {
  const bool grouped = !settings.group.empty();
  if (LearnsByGradient(settings) || (!grouped && settings.split_by.empty())) {
    return;
  }
  const std::string& name = grouped ? settings.group : settings.split_by;
  const std::vector<double> keys = SplitKeys(table, name, train.rows, settings.seed, grouped ? "group" : "split-by");
  if (grouped || table.columns[static_cast<size_t>(table.FindColumn(name))].kind == ColumnKind::kText) {
    train.groups = NumbersOfGroups(keys);
  } else {
    train.times = keys;
  }
}

// --soft-target takes the training rows in memory.
void RefuseTeacherOf(const TrainSettings& settings, bool shared, bool into_files) {
  if (!settings.soft_target.empty() && (shared || into_files)) {
    RefuseSetting(kSoftTargetSetting, "--soft-target takes all training rows in memory",
                  FieldText(&settings.soft_target), shared ? "Leave --shard-data out." : "Train on the table itself.");
  }
}

void LearnFromTeacher(const TrainSettings& settings, const Table& table, TrainData& data) {
  if (!settings.soft_target.empty()) {
    const TargetEncoder& targets = data.preprocessor.targets();
    LearnSoftTargets(table, targets, settings.soft_target, data.train);
    RequireTargetsOf(settings, targets, settings.soft_target, table, data.train);
  }
}

// How many rows to judge by are training rows, too; `hashes`: those of training rows that are not all here.
void CountRepeatedRows(const std::vector<uint64_t>* hashes, TrainData& data) {
  const auto count = [&](const Dataset& part) {
    return hashes != nullptr ? RowsAlsoIn(part, *hashes) : RowsAlsoIn(part, data.train);
  };
  data.report.validation_rows_in_training = count(data.validation);
  data.report.test_rows_in_training = count(data.test);
}

}  // namespace

TrainData EncodeData(const RawData& raw, const TrainSettings& settings, std::span<const Activation> custom,
                     const Preprocessor* fitted, const EncodeTarget& target) {
  const Stopwatch watch;
  DataPlan plan = PlanData(settings, raw, custom, fitted);
  TrainData data;
  data.preprocessor = std::move(plan.preprocessor);
  data.decisions = std::move(plan.decisions);
  const DType dtype = ParseDType(settings.dtype);
  const Table* validation = raw.validation ? &*raw.validation : nullptr;
  const Table* test = TestTableOf(settings, raw);
  const bool shared = settings.shard_data && LearnsByGradient(settings) && !target.encode_rows;
  RefuseTeacherOf(settings, shared, static_cast<bool>(target.encode_rows));
  if (!target.encode_rows && !shared) {
    RequireMemoryOf(plan.split, raw, test, data.preprocessor, dtype);
  }
  const BoundTable main(data.preprocessor, raw.main.train, TableUse::kForTraining);
  const auto encode = [&](const Table* other, const std::vector<int64_t>& chosen) {
    std::optional<BoundTable> bound;
    if (other != nullptr) {
      bound.emplace(data.preprocessor, *other, TableUse::kForTraining);
    }
    const BoundTable& table = bound ? *bound : main;
    const std::vector<int64_t> rows = bound ? AllRowsOf(*other) : chosen;
    Dataset encoded = target.encode_rows ? target.encode_rows(table, rows, dtype, &data.report)
                                         : table.Encode(rows, dtype, &data.report);
    data.left_out_rows += std::ssize(rows) - encoded.size();
    return encoded;
  };
  const auto require = [&](const Table* other, const Dataset& encoded) {
    const TargetEncoder& targets = data.preprocessor.targets();
    RequireTargetsOf(settings, targets, targets.names(), other != nullptr ? *other : raw.main.train, encoded);
  };
  ShareOfRows share;
  if (shared) {
    share = EncodeShare(main, plan.split.train, settings, target.share, &data.report,
                        [&](const Dataset& piece) { require(nullptr, piece); });
    data.left_out_rows += std::ssize(plan.split.train) - std::ssize(share.all.rows);
  } else {
    data.train = encode(nullptr, plan.split.train);
  }
  data.validation = encode(validation, plan.split.validation);
  data.test = encode(test, plan.split.test);
  require(nullptr, data.train);
  require(validation, data.validation);
  require(test, data.test);
  Weigh(settings, raw.main.train, shared ? share.all : data.train, data.preprocessor.targets());
  if (!shared) {
    GiveGroups(settings, raw.main.train, data.train);
  }
  if (!raw.main.train.is_image) {
    CountRepeatedRows(shared ? &share.all_hashes : nullptr, data);
  }
  LearnFromTeacher(settings, raw.main.train, data);
  if (shared) {
    TakeShare(std::move(share), target.share, data);
  }
  data.seconds = watch.Elapsed_seconds();
  return data;
}

Model BuildModel(const ResolvedSettings& settings, const TrainData& data, std::span<const Activation> custom) {
  Model model;
  model.preprocessor = data.preprocessor;
  const NetworkPlan plan = PlanNetwork(settings, model.preprocessor, custom);
  model.network = Network(plan.layers, ParseDType(settings->dtype), plan.members);
  if (LearnsByGradient(*settings)) {
    StartNetwork(settings, model.preprocessor.inputs(), data.train, model.network);
    data.train.Release();
  }
  model.loss = plan.output.loss;
  model.training = {{"settings", ToJson(settings.given())}, {"lamina_version", Version()}};
  return model;
}

void AnswerTogether(const std::vector<Network>& networks, const std::vector<double>& shares, Model& model) {
  model.network = networks.front();
  model.others.assign(networks.begin() + 1, networks.end());
  if (networks.size() > 1) {
    model.shares = shares.empty() ? std::vector(networks.size(), 1.0 / static_cast<double>(networks.size())) : shares;
  }
  model.training["bag"] = networks.size();
  if (const Verdict verdict = CheckEnsemble(model); !verdict) {
    throw Error(ErrorCode::kUnsupported, "the folds' networks cannot answer together: " + verdict.reason,
                {.remedy = "Leave --bag out."});
  }
}

const RawData& DataCache::Read(const DataSources& sources) {
  const auto known = std::find_if(files_.begin(), files_.end(), [&](const auto& row) { return row.first == sources; });
  if (known != files_.end()) {
    return *known->second;
  }
  return *files_.emplace_back(sources, std::make_unique<const RawData>(ReadRawData(sources))).second;
}

const RawData& DataCache::Raw(const TrainSettings& settings) {
  const std::lock_guard lock(mutex_);
  return Read(SourcesFrom(settings));
}

bool DataCache::HasImages(const TrainSettings& settings) { return Raw(settings).main.train.is_image; }

DataProfile DataCache::ProfileOf(const TrainSettings& settings, const Preprocessor& preprocessor) {
  const std::shared_ptr<const TrainData> data = Get(settings);
  const std::lock_guard lock(mutex_);
  return lamina::ProfileOf(BoundTable(preprocessor, Read(SourcesFrom(settings)).main.train), preprocessor,
                           data->train.rows);
}

std::shared_ptr<const TrainData> DataCache::Get(const TrainSettings& settings) {
  const std::lock_guard lock(mutex_);
  const RawData& raw = Read(SourcesFrom(settings));
  const DataOptions options = DataOptionsFrom(settings, raw);
  const auto form_for = [&](const TrainData& data) {
    const TargetEncoder& targets = data.preprocessor.targets();
    return FormFor(ResolveFor(settings, targets), targets);
  };
  std::shared_ptr<const TrainData> same_inputs;
  for (const Encoded& known : encoded_) {
    std::shared_ptr<const TrainData> data = known.raw == &raw && known.options == options ? known.data.lock() : nullptr;
    if (data != nullptr) {
      same_inputs = data;
      if (data->preprocessor.targets().form() == form_for(*data)) {
        return data;
      }
    }
  }
  last_ = std::make_shared<const TrainData>(same_inputs != nullptr ? InForm(*same_inputs, form_for(*same_inputs))
                                                                   : EncodeData(raw, settings));
  std::erase_if(encoded_, [](const Encoded& known) { return known.data.expired(); });
  encoded_.push_back({&raw, options, last_});
  return last_;
}

}  // namespace lamina
