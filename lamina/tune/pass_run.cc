// Prepares, runs and verifies one pass.
#include "lamina/tune/pass_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lamina/backend/serial/serial_backend.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/nan.h"
#include "lamina/base/random.h"
#include "lamina/base/timing.h"

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

}  // namespace

double LargestRelativeError(std::span<const double> expected, std::span<const double> got) {
  double scale = 0;
  double largest = 0;
  bool comparable = expected.size() == got.size();
  for (size_t i = 0; comparable && i < expected.size(); ++i) {
    scale = std::max(scale, std::abs(expected[i]));
    largest = std::max(largest, std::abs(expected[i] - got[i]));
    comparable = std::isfinite(expected[i]) && std::isfinite(got[i]);
  }
  if (!comparable) {
    return kNaN;
  }
  return largest == 0 ? 0 : largest / scale;
}

PassRun::PassRun(const Problem& problem, const Backend& backend, int copies) : problem_(problem) {
  const LayerSpec& layer = problem.layer;
  if (problem.batch < 1 || layer.inputs < 1 || layer.outputs < 1) {
    throw Error(ErrorCode::kInvalidArgument, "a measurement needs at least one sample, output and input",
                {.value = problem.Text()});
  }
  weights_.host = Matrix(layer.outputs, layer.inputs, problem.dtype);
  FillRandom(weights_.host, 2);
  for (int copy = 0; copy < copies; ++copy) {
    Operands operands;
    operands.x.host = Matrix(problem.batch, layer.inputs, problem.dtype);
    operands.delta.host = Matrix(problem.batch, layer.outputs, OutputType(problem.dtype));
    FillRandom(operands.x.host, 1 + 2 * static_cast<uint64_t>(copy));
    FillRandom(operands.delta.host, 3 + 2 * static_cast<uint64_t>(copy));
    operands_.push_back(std::move(operands));
  }
  Prepare(backend);
}

PassRun::PassRun(const Problem& problem, const Backend& backend, Operands operands, Matrix weights)
    : problem_(problem) {
  weights_.host = std::move(weights);
  operands_.push_back(std::move(operands));
  Prepare(backend);
}

MatrixView PassRun::Operand::view() {
  MatrixView view = host.view();
  if (resident != nullptr) {
    view.data = resident->data();
    view.space = Space::kDevice;
  }
  return view;
}

// To the device, where there is one.
void PassRun::Send(Operand& operand) {
  if (backend_->space() == Space::kHost || operand.host.empty()) {
    operand.resident = nullptr;
    return;
  }
  if (operand.resident == nullptr) {
    operand.resident = backend_->Allocate(operand.size_bytes());
  }
  backend_->Upload(operand.resident->data(), operand.host.data(), operand.size_bytes());
}

void PassRun::Fetch(Operand& operand) {
  if (operand.resident != nullptr) {
    backend_->Download(operand.host.data(), operand.resident->data(), operand.size_bytes());
  }
}

void PassRun::Spoil(Operand& operand) {
  if (!operand.host.empty()) {
    DispatchFloat(operand.host.dtype(), [&]<class T>(T) {
      std::fill_n(operand.host.Row<T>(0), operand.host.rows() * operand.host.cols(),
                  std::numeric_limits<T>::quiet_NaN());
    });
    Send(operand);
  }
}

void PassRun::Prepare(const Backend& backend) {
  backend_ = &backend;
  prepared_ = backend.Prepare(RequestOf(problem_));
  const bool resident = weights_.resident != nullptr;
  const bool first = bias_.host.empty();
  if (first) {
    MakeResults();
  }
  if (first || resident != (backend.space() == Space::kDevice)) {
    for (Operand* operand : {&weights_, &bias_, &z_}) {
      Send(*operand);
    }
    for (Operands& all : operands_) {
      for (Operand* operand : {&all.x, &all.delta, &all.a, &all.distance, &all.result}) {
        Send(*operand);
      }
    }
  }
  for (size_t copy = 0; first && problem_.pass != Pass::kForward && copy < operands_.size(); ++copy) {
    Forward(/*keep_z=*/false);  // the distances that some gradients read
    std::rotate(operands_.begin(), operands_.begin() + 1, operands_.end());
  }
}

void PassRun::MakeResults() {
  const LayerSpec& layer = problem_.layer;
  const DType output = OutputType(problem_.dtype);
  bias_.host = Matrix(1, layer.outputs, output);
  const bool rows_are_samples = problem_.pass != Pass::kWeightGradient;
  for (Operands& operands : operands_) {
    operands.a.host = Matrix(problem_.batch, layer.outputs, output);
    if (problem_.pass != Pass::kForward) {
      operands.distance.host = Matrix(problem_.batch, layer.outputs, output);
      operands.result.host = Matrix(rows_are_samples ? problem_.batch : layer.outputs, layer.inputs, output);
    }
  }
}

// On the first operands.
void PassRun::Forward(bool keep_z) {
  ForwardArgs args;
  Operands& operands = operands_[0];
  args.x = operands.x.view();
  args.weights = weights_.view();
  args.bias = problem_.layer.bias ? bias_.view().data : nullptr;
  args.a = operands.a.view();
  if (keep_z) {
    z_.host = Matrix(problem_.batch, problem_.layer.outputs, OutputType(problem_.dtype));
    Send(z_);
    args.z = z_.view();
  }
  if (problem_.pass != Pass::kForward && SynapseNeedsDistance(problem_.layer.synapse)) {
    args.distance = operands.distance.view();
  }
  prepared_->Forward(args);
}

void PassRun::Compute(Operands& operands) {
  if (problem_.pass == Pass::kForward) {
    ForwardArgs args;
    args.x = operands.x.view();
    args.weights = weights_.view();
    args.bias = problem_.layer.bias ? bias_.view().data : nullptr;
    args.a = operands.a.view();
    prepared_->Forward(args);
  } else if (problem_.pass == Pass::kInputGradient) {
    InputGradientArgs args;
    args.delta = operands.delta.view();
    args.weights = weights_.view();
    args.x = operands.x.view();
    args.out = operands.result.view();
    args.distance = operands.distance.view();
    prepared_->InputGradient(args);
  } else {
    WeightGradientArgs args;
    args.x = operands.x.view();
    args.delta = operands.delta.view();
    args.weights.value = weights_.view().data;
    args.weights.gradient = operands.result.view().data;
    args.distance = operands.distance.view();
    prepared_->WeightGradient(args);
  }
}

void PassRun::Call() {
  Compute(operands_[next_]);
  next_ = (next_ + 1) % operands_.size();
}

double PassRun::SecondsPerCall(double least_seconds) {
  constexpr int64_t kMostTogether = 256;  // asked of a device before the next look at the clock
  const Stopwatch watch;
  int64_t calls = 0;
  int64_t together = 1;
  while (calls == 0 || watch.Elapsed_seconds() < least_seconds) {
    for (int64_t i = 0; i < together; ++i) {
      Call();
    }
    calls += together;
    if (backend_->space() == Space::kDevice) {
      backend_->Synchronize();
      together = std::min(2 * together, kMostTogether);
    }
  }
  return watch.Elapsed_seconds() / static_cast<double>(calls);
}

std::vector<double> PassRun::Expected(const std::vector<int64_t>& chosen) {
  const bool by_output = problem_.pass == Pass::kWeightGradient;
  const Operands& own = operands_[0];
  Problem part = problem_;
  part.dtype = DType::kF64;
  part.precision = Precision::kExact;
  (by_output ? part.layer.outputs : part.batch) = static_cast<int64_t>(chosen.size());
  Operands operands;
  operands.x.host = by_output ? Chosen(own.x.host, All(problem_.batch), false) : Chosen(own.x.host, chosen, false);
  operands.delta.host = Chosen(own.delta.host, chosen, by_output);
  const std::unique_ptr<Backend> serial = MakeSerialBackend({});
  PassRun expected(part, *serial, std::move(operands),
                   Chosen(weights_.host, by_output ? chosen : All(problem_.layer.outputs), false));
  if (problem_.pass == Pass::kForward) {
    expected.Forward(/*keep_z=*/true);
  }
  expected.Compute(expected.operands_[0]);
  return Flat(expected.Result().host);
}

namespace {

// What a device's fast sums of random operands may be off by; 0: no more than exact ones.
double FastBoundOnDevice(const Problem& problem) {
  const Synapse synapse = problem.layer.synapse;
  const bool half = problem.dtype == DType::kF16 || problem.dtype == DType::kBF16;
  if (synapse == Synapse::kL1 && half) {  // 17 roundings to the type, up and down: four of them at once
    return 4 * (problem.dtype == DType::kF16 ? 1.0 / 2048 : 1.0 / 256);
  }
  const bool squares = (synapse == Synapse::kL2 || synapse == Synapse::kL2Squared) && problem.dtype == DType::kF32;
  return synapse == Synapse::kDot || squares ? 1.0 / 512 : 0;  // TF32: off by up to 1/2048
}

}  // namespace

PassVerdict PassRun::Verify() {
  Spoil(operands_[0].a);  // what an earlier plan computed must not pass for this one's
  Spoil(operands_[0].result);
  if (problem_.pass == Pass::kForward) {
    Forward(/*keep_z=*/true);
  }
  Compute(operands_[0]);  // as it is timed
  Fetch(Result());
  Fetch(operands_[0].a);
  const bool by_output = problem_.pass == Pass::kWeightGradient;
  const int64_t lines = by_output ? problem_.layer.outputs : problem_.batch;
  std::vector<int64_t> chosen;
  constexpr int64_t kOdd = 37;  // or all of them would be at the same places of a tile
  for (int64_t i = 0; i < std::min(lines, kVerified); ++i) {
    chosen.push_back(lines <= kVerified ? i : (lines * i / kVerified + kOdd * i) % lines);
  }
  const Operands& own = operands_[0];
  const Matrix& result = Result().host;
  if (expected_.empty()) {
    expected_ = Expected(chosen);
  }
  PassVerdict verdict;
  verdict.largest_error = LargestRelativeError(expected_, Flat(Chosen(result, chosen, false)));
  if (problem_.pass == Pass::kForward) {
    const double error =
        ActivationError(problem_.layer.activation, Chosen(result, chosen, false), Chosen(own.a.host, chosen, false));
    verdict.largest_error = std::isnan(error) ? error : std::max(verdict.largest_error, error);
  }
  const double epsilon = OutputType(problem_.dtype) == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                                                   : std::numeric_limits<float>::epsilon();
  const int64_t terms = problem_.pass == Pass::kForward ? problem_.layer.inputs
                        : by_output                     ? problem_.batch
                                                        : problem_.layer.outputs;
  verdict.error_bound = 8.0 * std::sqrt(static_cast<double>(std::max<int64_t>(1, terms))) * epsilon;
  if (problem_.precision == Precision::kBFloat16) {
    verdict.error_bound = 1.0 / 128;  // operands are off by up to 1/512, sums of random ones by less
  }
  if (problem_.precision == Precision::kFast && backend_->space() == Space::kDevice) {
    verdict.error_bound = std::max(verdict.error_bound, FastBoundOnDevice(problem_));
  }
  verdict.verified = verdict.largest_error <= verdict.error_bound;  // false for NaN
  return verdict;
}

}  // namespace lamina
