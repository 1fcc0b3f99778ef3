// What one thread of the service has for itself: executors for many rows, room for single ones, counts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/model/predictor.h"
#include "lamina/nn/executor.h"
#include "lamina/serve/counters.h"
#include "lamina/serve/job.h"
#include "lamina/serve/served_model.h"

namespace lamina::serve {

class Worker {
 public:
  /// `models`: how many names there are.
  explicit Worker(size_t models);

  /// Answers the jobs, rows of several that ask one model together.
  void Run(std::span<Job* const> jobs);

  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  /// The counts of this thread; new ones where the model is new.
  DriftCounts* DriftOf(size_t index, const ServedModel& model);

 private:
  struct Prepared {
    std::weak_ptr<const ServedModel> model;
    std::vector<std::unique_ptr<Executor>> executors;  // one a network
  };
  void RunModel(std::span<Job* const> jobs);
  Matrix Outputs(const std::shared_ptr<const ServedModel>& model, const Matrix& features);
  Matrix OutputsOfBatch(const std::shared_ptr<const ServedModel>& model, const Matrix& features);
  Prepared& PreparedFor(const std::shared_ptr<const ServedModel>& model);

  Counters counters_;
  std::unique_ptr<Backend> backend_;  // made for the first batch
  std::vector<Prepared> prepared_;
  PredictorScratch scratch_;
};

}  // namespace lamina::serve
