// What --effort best has trained, in a folder that outlives the process and that several processes may share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lamina/base/file_claim.h"
#include "lamina/data/encode/preprocessor.h"
#include "lamina/run/left_out_answers.h"
#include "lamina/run/portfolio.h"
#include "lamina/settings/settings.h"

namespace lamina {

/// One model on one fold, or why there is none.
struct StoredJob {
  TrainedFold fold;
  double seconds = 0;
  std::string left_out;
};

/// Files are written whole, once: any number of threads and processes may look and write.
class PortfolioStore {
 public:
  /// Makes the folder where there is none. `run` says which run it is of: rows, settings, the list of models. Throws
  /// Error where the folder has another run's, or cannot be written.
  PortfolioStore(std::string folder, const nlohmann::json& run);

  /// None: nobody has ended it. Throws Error(kBadModel) for a damaged file.
  std::optional<StoredJob> Find(size_t entry, int64_t place) const;
  void Put(size_t entry, int64_t place, const StoredJob& job) const;
  /// The right to train it; null: another process has it.
  std::unique_ptr<FileClaim> Claim(size_t entry, int64_t place) const;

 private:
  std::string PathOf(size_t entry, int64_t place) const;

  std::string folder_;
};

/// A model of the portfolio on a fold.
struct PortfolioJob {
  size_t entry = 0;
  int64_t place = 0;                // repeats × folds of them
  std::optional<StoredJob> stored;  // what another run has made of it
  std::unique_ptr<FileClaim> claim;
};

/// Which job is next, for the threads of one process under one lock, and among processes by their folder.
class PortfolioJobs {
 public:
  /// `folder`: of a PortfolioStore of `run`; empty: nothing is kept.
  PortfolioJobs(int64_t entries, int64_t places, const nlohmann::json& run, const std::string& folder);

  /// The first that nobody has ended or has. None: nothing is left, `ends` says so of the next one, or all that is left
  /// is with other processes (`waits`). `skipped`: models that have failed.
  std::optional<PortfolioJob> Next(const std::function<bool(size_t entry)>& ends,
                                   const std::function<bool(size_t entry)>& skipped, bool& waits);
  /// For other runs. Any thread.
  void Keep(const PortfolioJob& job, const StoredJob& made) const;

 private:
  int64_t places_;
  std::vector<bool> taken_;  // begun by this process
  std::optional<PortfolioStore> store_;
};

/// What tells one run of a folder from another: rows, settings that say what is trained, the list.
nlohmann::json RunOf(const TrainSettings& settings, std::span<const PortfolioEntry> entries,
                     const Preprocessor& encoding, const Table& table);

}  // namespace lamina
