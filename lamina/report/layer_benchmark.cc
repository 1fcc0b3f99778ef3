// Verifies and times one pass of one layer.
#include "lamina/report/layer_benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/buffer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"
#include "lamina/report/train_benchmark.h"

namespace lamina {
namespace {

constexpr int64_t kVerified = 16;

// Reals in [-1, 1), or integers in [-100, 100] (unsigned: [0, 200]).
constexpr double kLargestInteger = 100;

void FillRandom(Matrix& matrix, uint64_t seed) {
  Random random(seed);
  DispatchDType(matrix.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      for (int64_t k = 0; k < matrix.cols(); ++k) {
        const auto value = static_cast<float>(random.Uniform(-1, 1));
        if constexpr (std::is_integral_v<T>) {
          matrix.Row<T>(i)[k] =
              static_cast<T>(std::lround(kLargestInteger * static_cast<double>(value + (std::is_signed_v<T> ? 0 : 1))));
        } else {
          matrix.Row<T>(i)[k] = static_cast<T>(value);
        }
      }
    }
  });
}

LayerPlanRequest RequestOf(const Problem& problem) {
  LayerPlanRequest request{problem.layer, problem.dtype, problem.batch, problem.pass != Pass::kForward,
                           problem.precision};
  request.largest_x = request.largest_w = 2 * kLargestInteger;
  return request;
}

// One prepared pass with its operands.
class PassRun {
 public:
  PassRun(const Problem& problem, const Backend& backend, Matrix x, Matrix weights, Matrix delta)
      : problem_(problem),
        x_(std::move(x)),
        weights_(std::move(weights)),
        delta_(std::move(delta)),
        bias_(1, problem.layer.outputs, OutputType(problem.dtype)),
        a_(x_.rows(), problem.layer.outputs, OutputType(problem.dtype)),
        z_(x_.rows(), problem.layer.outputs, OutputType(problem.dtype)),
        distance_(x_.rows(), problem.layer.outputs, OutputType(problem.dtype)),
        prepared_(backend.Prepare(RequestOf(problem))) {
    const bool rows_are_samples = problem.pass != Pass::kWeightGradient;
    result_ = Matrix(rows_are_samples ? x_.rows() : problem.layer.outputs, problem.layer.inputs, problem.dtype);
    if (problem.pass != Pass::kForward) {
      Forward(/*keep_z=*/false);  // the distances that some gradients read
    }
  }

  void Forward(bool keep_z) {
    ForwardArgs args;
    args.x = x_.view();
    args.weights = weights_.view();
    args.bias = problem_.layer.bias ? bias_.data() : nullptr;
    args.a = a_.view();
    if (keep_z) {
      args.z = z_.view();
    }
    if (problem_.pass != Pass::kForward && SynapseNeedsDistance(problem_.layer.synapse)) {
      args.distance = distance_.view();
    }
    prepared_->Forward(args);
  }

  void Call() {
    if (problem_.pass == Pass::kForward) {
      Forward(/*keep_z=*/false);
    } else if (problem_.pass == Pass::kInputGradient) {
      InputGradientArgs args;
      args.delta = delta_.view();
      args.weights = weights_.view();
      args.x = x_.view();
      args.out = result_.view();
      args.distance = distance_.view();
      prepared_->InputGradient(args);
    } else {
      WeightGradientArgs args;
      args.x = x_.view();
      args.delta = delta_.view();
      args.weights.value = weights_.data();
      args.weights.gradient = result_.data();
      args.distance = distance_.view();
      prepared_->WeightGradient(args);
    }
  }

  const Matrix& x() const { return x_; }
  const Matrix& weights() const { return weights_; }
  const Matrix& delta() const { return delta_; }
  const Matrix& a() const { return a_; }
  // What is compared with the plain loops: the sums z of a forward pass, or the gradient.
  const Matrix& Result() const { return problem_.pass == Pass::kForward ? z_ : result_; }
  std::string Describe() const { return prepared_->Describe(); }

 private:
  Problem problem_;
  Matrix x_, weights_, delta_, bias_, a_, z_, distance_, result_;
  std::unique_ptr<PreparedLayer> prepared_;
};

// The chosen rows or columns of `from` in double precision.
Matrix Chosen(const Matrix& from, const std::vector<int64_t>& chosen, bool columns) {
  const auto count = static_cast<int64_t>(chosen.size());
  Matrix part(columns ? from.rows() : count, columns ? count : from.cols(), DType::kF64);
  Matrix row(1, from.cols(), DType::kF64);
  for (int64_t i = 0; i < (columns ? from.rows() : count); ++i) {
    ConvertMatrix(from.view().Rows(columns ? i : chosen[static_cast<size_t>(i)], 1), row.view());
    for (int64_t k = 0; k < part.cols(); ++k) {
      part.Row<double>(i)[k] = row.Row<double>(0)[columns ? chosen[static_cast<size_t>(k)] : k];
    }
  }
  return part;
}

std::vector<double> Flat(const Matrix& matrix) {
  const double* first = matrix.Row<double>(0);
  return {first, first + matrix.rows() * matrix.cols()};
}

std::vector<int64_t> All(int64_t count) {
  std::vector<int64_t> rows(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    rows[static_cast<size_t>(i)] = i;
  }
  return rows;
}

// How far the activations of the call that is timed are from the activation of the verified sums, in double precision.
double ActivationError(const Activation& activation, const Matrix& sums, const Matrix& activations) {
  std::vector<double> expected(static_cast<size_t>(sums.rows() * sums.cols()));
  for (int64_t i = 0; i < sums.rows(); ++i) {
    activation.Value(sums.Row<double>(i), expected.data() + i * sums.cols(), sums.cols());
  }
  const std::vector<double> got = Flat(activations);
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
    if (std::isnan(error)) {
      return error;
    }
    largest = std::max(largest, error);
  }
  return largest;
}

// The result of a few samples (weight gradient: outputs) by the plain loops in double precision, against the run's.
void Verify(const Problem& problem, const PassRun& run, LayerBenchmarkResult& result) {
  const bool by_output = problem.pass == Pass::kWeightGradient;
  const int64_t lines = by_output ? problem.layer.outputs : problem.batch;
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(lines, kVerified); ++i) {
    chosen.push_back(lines * i / std::min(lines, kVerified) +
                     (i % 3 == 2 ? lines / std::min(lines, kVerified) - 1 : 0));
  }
  const std::unique_ptr<Backend> plain = MakeBackend("serial");
  Problem part = problem;
  part.dtype = DType::kF64;
  (by_output ? part.layer.outputs : part.batch) = static_cast<int64_t>(chosen.size());
  PassRun expected(
      part, *plain, by_output ? Chosen(run.x(), All(problem.batch), false) : Chosen(run.x(), chosen, false),
      by_output ? Chosen(run.weights(), chosen, false) : Chosen(run.weights(), All(problem.layer.outputs), false),
      Chosen(run.delta(), chosen, by_output));
  if (problem.pass == Pass::kForward) {
    expected.Forward(/*keep_z=*/true);
  } else {
    expected.Call();
  }
  result.largest_error = LargestRelativeError(Flat(expected.Result()), Flat(Chosen(run.Result(), chosen, false)));
  if (problem.pass == Pass::kForward) {
    const double error =
        ActivationError(problem.layer.activation, Chosen(run.Result(), chosen, false), Chosen(run.a(), chosen, false));
    result.largest_error = std::isnan(error) ? error : std::max(result.largest_error, error);
  }
  const double epsilon = OutputType(problem.dtype) == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                                                  : std::numeric_limits<float>::epsilon();
  const int64_t terms =
      problem.pass == Pass::kForward ? problem.layer.inputs : (by_output ? problem.batch : problem.layer.outputs);
  result.error_bound = 8.0 * std::sqrt(static_cast<double>(std::max<int64_t>(1, terms))) * epsilon;
  result.verified = result.largest_error <= result.error_bound;  // false for NaN
}

}  // namespace

LayerBenchmarkResult BenchmarkLayer(const Problem& problem, const LayerBenchmarkOptions& options) {
  if (problem.batch < 1 || problem.layer.inputs < 1 || problem.layer.outputs < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a benchmark needs at least one sample, output and input",
                {.value = problem.Text()});
  }
  const std::unique_ptr<Backend> backend = MakeBackend(options.backend, {.threads = options.threads});
  if (const Verdict verdict = backend->Supports(problem); !verdict) {
    throw Error(ErrorCode::kUnsupported, verdict.reason, {.value = problem.Text()});
  }
  Matrix x(problem.batch, problem.layer.inputs, problem.dtype);
  Matrix weights(problem.layer.outputs, problem.layer.inputs, problem.dtype);
  Matrix delta(problem.batch, problem.layer.outputs, problem.dtype);
  FillRandom(x, 1);
  FillRandom(weights, 2);
  FillRandom(delta, 3);
  PassRun run(problem, *backend, std::move(x), std::move(weights), std::move(delta));
  if (problem.pass == Pass::kForward) {
    run.Forward(/*keep_z=*/true);
  }
  run.Call();  // as it is timed
  LayerBenchmarkResult result;
  result.backend = backend->name();
  result.plan = run.Describe();
  result.threads = backend->threads();
  result.rounds = options.rounds;
  Verify(problem, run, result);
  std::vector<double> seconds;
  for (int round = 0; round < options.rounds; ++round) {
    const Stopwatch watch;
    int64_t calls = 0;
    while (calls == 0 || watch.Elapsed_seconds() < options.round_seconds) {
      run.Call();
      ++calls;
    }
    seconds.push_back(watch.Elapsed_seconds() / static_cast<double>(calls));
  }
  std::sort(seconds.begin(), seconds.end());
  result.median_seconds = seconds[seconds.size() / 2];
  result.least_seconds = seconds.front();
  result.most_seconds = seconds.back();
  const double synapses = static_cast<double>(problem.batch) * static_cast<double>(problem.layer.outputs) *
                          static_cast<double>(problem.layer.inputs);
  result.synapses_per_second = synapses / result.median_seconds;
  result.t_syn_ns = 1e9 / result.synapses_per_second;
  return result;
}

}  // namespace lamina
