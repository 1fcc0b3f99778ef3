// Only one matrix of rows against rows grows with the square of the rows. It is kernel, factor, inverse and weights of
// slopes in turn.
#include "lamina/backend/cuda/cuda_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lamina/backend/cuda/cusolver.h"
#include "lamina/backend/cuda/kernel_blocks.h"
#include "lamina/backend/cuda/on_device.h"
#include "lamina/base/text.h"

namespace lamina::LAMINA_CUDA_NAMESPACE {
namespace {

constexpr auto kNumberBytes = static_cast<int64_t>(sizeof(double));

int64_t SquareSize(int64_t rows) { return rows * PaddedRows<double>::StrideOf(rows); }

class CudaKernels final : public DeviceKernels {
 public:
  CudaKernels(const DeviceKernelsRequest& request, const std::shared_ptr<Device>& device)
      : request_(request),
        device_(device),
        stride_(PaddedRows<double>::StrideOf(request.rows)),
        matrix_(device, SquareSize(request.rows)),
        rows_(device, request.rows, request.columns),
        slopes_(device, request.rows, request.columns),
        products_(device, request.columns * request.columns),
        alpha_(device, request.outputs * request.stride),
        of_rows_(device, request.rows),
        diagonal_(static_cast<size_t>(request.rows)),
        factor_(*device, request.rows, stride_, request.inverse) {}

  void SetRows(ConstMatrixView rows, int p) override {
    rows_.Set(rows);
    p_ = p;
  }

  bool Solve(const DeviceSystem& system) override {
    of_rows_.Upload(system.diagonal, request_.rows);
    LaunchKernelBlocks(*device_, Blocks(), WithDistances(system.shape), of_rows_.get());
    if (!factor_.Factorise(matrix_.get())) {
      return false;
    }
    DownloadDiagonal(diagonal_.data());
    if (!std::all_of(diagonal_.begin(), diagonal_.end(),
                     [&](double root) { return root * root > system.least_pivot; })) {
      return false;
    }
    const int64_t size = request_.outputs * request_.stride;
    alpha_.Upload(system.targets, size);
    factor_.Solve(matrix_.get(), alpha_.get(), request_.stride, request_.outputs);
    alpha_.Download(system.alpha, size);
    if (request_.inverse) {
      factor_.Invert(matrix_.get());
      DownloadDiagonal(system.inverse_diagonal);
    }
    return true;
  }

  void Download(double* lower) override {
    const int64_t rows = request_.rows;
    if (stride_ == rows) {
      matrix_.Download(lower, rows * rows);
      return;
    }
    std::vector<double> padded(static_cast<size_t>(rows * stride_));
    matrix_.Download(padded.data(), rows * stride_);
    for (int64_t i = 0; i < rows; ++i) {
      std::copy_n(&padded[static_cast<size_t>(i * stride_)], i + 1, lower + i * rows);
    }
  }

  void SlopeProducts(const DeviceSlopes& slopes, double* products) override {
    alpha_.Upload(slopes.alpha, request_.outputs * request_.stride);
    of_rows_.Upload(slopes.roots, request_.rows);
    for (int64_t c = 0; c < request_.outputs; ++c) {
      LaunchSlopeWeights(*device_, Blocks(), WithDistances(slopes.shape), alpha_.get() + c * request_.stride,
                         of_rows_.get());
      ProductLaunch<double, double> launch;
      launch.args = ProductOf<double>({matrix_.get(), stride_, /*aligned=*/true}, request_.rows, rows_.From(0),
                                      request_.columns, request_.rows);
      launch.args.own = rows_.From(0);
      SlopeEpilogue<double> epilogue;
      epilogue.out = {slopes_.data(), slopes_.stride(), false};
      LaunchInputGradient(*device_, p_ == 1 ? Synapse::kL1 : Synapse::kL2Squared, launch, epilogue);
      LaunchColumnProducts(*device_, slopes_.From(0), request_.rows, request_.columns, /*add=*/c > 0, products_.get());
    }
    products_.Download(products, request_.columns * request_.columns);
  }

 private:
  BlockRows Blocks() const { return {rows_.From(0), request_.rows, request_.columns, matrix_.get(), stride_}; }
  KernelShape WithDistances(KernelShape shape) const {
    shape.p = p_;
    return shape;
  }
  void DownloadDiagonal(double* to) {
    LaunchDiagonal(*device_, matrix_.get(), stride_, request_.rows, of_rows_.get());
    of_rows_.Download(to, request_.rows);
  }

  DeviceKernelsRequest request_;
  std::shared_ptr<Device> device_;
  int64_t stride_;  // of the matrix
  int p_ = 1;
  OnDevice<double> matrix_;
  PaddedRows<double> rows_;
  PaddedRows<double> slopes_;
  OnDevice<double> products_;  // of columns
  OnDevice<double> alpha_;
  OnDevice<double> of_rows_;  // a number each, on its way
  std::vector<double> diagonal_;
  DeviceCholesky factor_;
};

}  // namespace

Verdict CudaKernelsAvailable(int64_t rows) {
  return rows <= kMostSolverRows
             ? SolverAvailable()
             : Verdict::No(fmt::format("cuSOLVER takes at most {} rows", WithThousands(kMostSolverRows)));
}

int64_t CudaKernelsBytes(const DeviceKernelsRequest& request) {
  const int64_t of_columns = PaddedRows<double>::StrideOf(request.columns);
  return kNumberBytes * (SquareSize(request.rows) + 2 * request.rows * of_columns + request.columns * request.columns +
                         request.outputs * request.stride + request.rows);
}

std::unique_ptr<DeviceKernels> MakeCudaKernels(const DeviceKernelsRequest& request,
                                               const std::shared_ptr<Device>& device) {
  return std::make_unique<CudaKernels>(request, device);
}

}  // namespace lamina::LAMINA_CUDA_NAMESPACE
