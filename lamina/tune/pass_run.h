// One pass of one layer on random operands, prepared once, compared with the plain loops and run many times: what
// tuning and benchmarks measure.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/base/buffer.h"

namespace lamina {

struct PassVerdict {
  double largest_error = 0;  // relative to the largest value of the result
  double error_bound = 0;
  bool verified = false;
};

/// The largest |expected - got| over the largest |expected|; NaN if a value is NaN or infinite, or the lengths differ.
double LargestRelativeError(std::span<const double> expected, std::span<const double> got);

/// Random inputs, weights and gradients of the loss: reals in [-1, 1), integers in [-100, 100] (unsigned: [0, 200]).
class PassRun {
 public:
  /// `copies` of everything a call reads and writes but the weights take turns, so that caches are as cold as in use.
  /// Throws Error(kInvalidArgument) for an empty problem, Error(kUnsupported) with the backend's reason.
  PassRun(const Problem& problem, const Backend& backend, int copies = 1);

  /// May return before the work is done.
  void Call();
  /// Seconds of one call, the mean over calls for at least `least_seconds`; at least one.
  double SecondsPerCall(double least_seconds);
  /// Another plan or backend for the same operands; `backend` must outlive the calls.
  void Prepare(const Backend& backend);
  /// Computes once, and plain loops in double precision compute up to 16 samples (weight gradient: outputs) spread over
  /// the result. All values of those are compared.
  PassVerdict Verify();
  std::string Describe() const { return prepared_->Describe(); }

 private:
  // A matrix of the host and, for a device, its memory there.
  struct Operand {
    Matrix host;
    std::unique_ptr<Buffer> resident;

    MatrixView view();
    int64_t size_bytes() const { return host.rows() * host.view().stride * DTypeSize_bytes(host.dtype()); }
  };
  struct Operands {
    Operand x, delta, a, distance, result;
  };

  PassRun(const Problem& problem, const Backend& backend, Operands operands, Matrix weights);
  void MakeResults();
  void Send(Operand& operand);
  void Fetch(Operand& operand);
  void Spoil(Operand& operand);
  void Forward(bool keep_z);
  void Compute(Operands& operands);
  /// The result of the plain loops in double precision, for the samples (weight gradient: outputs) that are compared.
  std::vector<double> Expected(const std::vector<int64_t>& chosen);
  /// What is compared: the sums z of a forward pass, or the gradient.
  Operand& Result() { return problem_.pass == Pass::kForward ? z_ : operands_[0].result; }

  Problem problem_;
  std::vector<Operands> operands_;
  size_t next_ = 0;
  Operand weights_, bias_, z_;
  std::vector<double> expected_;  // what Verify() compares with; empty before the first time
  const Backend* backend_ = nullptr;
  std::unique_ptr<PreparedLayer> prepared_;
};

}  // namespace lamina
