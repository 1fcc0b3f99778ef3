// Rows through a model, on the calling thread. Run() groups jobs by model, computes their rows together, and writes
// each response. Large networks take many rows through executors, small ones row by row. Reading requests is left to
// the service.
#include "lamina/serve/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lamina/backend/backends.h"
#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/model/evaluate.h"
#include "lamina/model/outputs.h"

namespace lamina::serve {
namespace {

constexpr int64_t kBatch = 64;           // rows of an executor
constexpr int64_t kFewRows = 4;          // up to so many, one by one is as fast
constexpr int64_t kSmallNetwork = 4096;  // synapses: of such, one by one always

[[noreturn]] void ThrowNotFinite(int64_t row) {
  throw Error(ErrorCode::kBadModel,
              fmt::format("the network's answer to row {} (counted from 0) is not a finite number", row),
              {.remedy = kNotFiniteRemedy});
}

// The features of all, one behind the other.
Matrix Together(std::span<Job* const> jobs) {
  int64_t rows = 0;
  for (const Job* job : jobs) {
    rows += job->rows.features.rows();
  }
  const Matrix& first = jobs.front()->rows.features;
  Matrix all(rows, first.cols(), first.dtype());
  int64_t at = 0;
  for (const Job* job : jobs) {
    const Matrix& some = job->rows.features;
    DispatchFloat(all.dtype(), [&]<class T>(T) {
      for (int64_t i = 0; i < some.rows(); ++i) {
        std::copy_n(some.Row<T>(i), some.cols(), all.Row<T>(at + i));
      }
    });
    at += some.rows();
  }
  return all;
}

// `outputs`: of the rows that can be answered, those of the job from `begin` on.
void WriteJob(Job& job, const Matrix& outputs, int64_t begin) {
  Matrix all(job.rows.asked, outputs.cols(), DType::kF64);
  std::fill_n(static_cast<double*>(all.data()), all.rows() * all.cols(), kNaN);
  for (size_t i = 0; i < job.rows.rows.size(); ++i) {
    const double* row = outputs.Row<double>(begin + static_cast<int64_t>(i));
    if (!std::all_of(row, row + outputs.cols(), [](double y) { return std::isfinite(y); })) {
      ThrowNotFinite(job.rows.rows[i]);
    }
    std::copy_n(row, outputs.cols(), all.Row<double>(job.rows.rows[i]));
  }
  job.response = job.write(job, all);
}

}  // namespace

std::vector<std::string> NotesOnRows(const EncodedRows& rows) {
  Answers answers;
  answers.report = rows.report;
  answers.without_answer = rows.left_out;
  answers.file = rows.file;
  answers.rows.resize(static_cast<size_t>(rows.asked));
  return answers.Notes();
}

Worker::Worker(size_t models) : counters_(models) {}

DriftCounts* Worker::DriftOf(size_t index, const ServedModel& model) {
  return model.model().profile.columns.empty() ? nullptr : counters_.DriftOf(index, model);
}

Worker::Prepared& Worker::PreparedFor(const std::shared_ptr<const ServedModel>& model) {
  std::erase_if(prepared_, [](const Prepared& each) { return each.model.expired(); });
  for (Prepared& each : prepared_) {
    if (each.model.lock() == model) {
      return each;
    }
  }
  if (!backend_) {
    backend_ = MakeBackend("cpu", {.threads = 1});
  }
  Prepared prepared{model, {}};
  for (int64_t i = 0; i < model->model().networks(); ++i) {
    ExecutorOptions plan;
    plan.max_batch = kBatch;
    plan.step.loss = model->model().loss;
    prepared.executors.push_back(std::make_unique<Executor>(model->model().network_at(i), *backend_, plan));
  }
  return prepared_.emplace_back(std::move(prepared));
}

Matrix Worker::OutputsOfBatch(const std::shared_ptr<const ServedModel>& model, const Matrix& features) {
  std::vector<Matrix> answers;
  for (const std::unique_ptr<Executor>& executor : PreparedFor(model).executors) {
    Matrix& raw = answers.emplace_back(features.rows(), model->model().network.outputs(), features.dtype());
    executor->Predict(features.view(), raw.view());
  }
  if (answers.size() == 1) {
    return InTargetUnits(model->model(), answers.front());
  }
  return InTargetUnits(model->model(), SumOfShares(answers, model->model().shares));
}

// In units of the target; what is not finite is so in the result, too.
Matrix Worker::Outputs(const std::shared_ptr<const ServedModel>& model, const Matrix& features) {
  const Model& asked = model->model();
  if (features.rows() > kFewRows && asked.nearest == 0 && asked.parameter_count() > kSmallNetwork) {
    return OutputsOfBatch(model, features);
  }
  const RowPredictor& predictor = model->predictor();
  const int64_t together = std::min(features.rows(), predictor.together());
  if (scratch_.size_bytes() < together * predictor.scratch_bytes()) {
    scratch_ = PredictorScratch(together * predictor.scratch_bytes());
  }
  Matrix outputs(features.rows(), predictor.outputs(), DType::kF64);
  std::fill_n(static_cast<double*>(outputs.data()), outputs.rows() * outputs.cols(), kNaN);
  predictor.PredictEncoded(features.data(), features.rows(), outputs.Row<double>(0), {scratch_.data(), together});
  return outputs;
}

void Worker::RunModel(std::span<Job* const> jobs) {
  const Matrix together = jobs.size() == 1 ? Matrix() : Together(jobs);
  const Matrix outputs = Outputs(jobs.front()->model, jobs.size() == 1 ? jobs.front()->rows.features : together);
  int64_t begin = 0;
  for (Job* job : jobs) {
    try {
      WriteJob(*job, outputs, begin);
      counters_.CountRows(job->model_index, job->rows);
    } catch (const Error& error) {
      job->response = job->refuse(500, error.what());
    }
    begin += job->rows.features.rows();
  }
}

void Worker::Run(std::span<Job* const> jobs) {
  std::vector<Job*> rest(jobs.begin(), jobs.end());
  while (!rest.empty()) {
    const auto same = std::stable_partition(rest.begin(), rest.end(),
                                            [&, model = rest.front()->model](Job* job) { return job->model == model; });
    const std::vector<Job*> now(rest.begin(), same);
    rest.erase(rest.begin(), same);
    try {
      RunModel(now);
    } catch (const std::exception& error) {  // no memory, say: nobody else's request is lost by it
      for (Job* job : now) {
        job->response = job->refuse(500, error.what());
      }
    }
  }
}

}  // namespace lamina::serve
