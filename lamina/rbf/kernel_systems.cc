// In host memory: distances, kernels and factors in panels. On a device: what must be seen of them comes back.
#include "lamina/rbf/kernel_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "lamina/backend/backend.h"
#include "lamina/backend/cpu/symmetric_kernels.h"
#include "lamina/base/stop.h"
#include "lamina/rbf/kernel_rows.h"
#include "lamina/rbf/kernel_solver.h"
#include "lamina/rbf/kernel_system.h"

namespace lamina {
namespace {

// Smaller systems take no time; rounding acts as a ridge of some 1e-6, which must stay small beside the ridge.
constexpr int64_t kLeastRowsInF32 = 512;
constexpr double kLeastRidgeInF32 = 1e-4;

bool LooksInF32(const KernelMachineOptions& options, int64_t rows, bool inverse) {
  return inverse && rows >= kLeastRowsInF32 && options.sample_weights.empty();
}

// What both have.
class SystemsOfRows : public KernelSystems {
 public:
  SystemsOfRows(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options)
      : x_(x), options_(options), outputs_(y.cols), targets_(y.cols * stride() * 8) {
    TurnTargets(y, stride(), targets_.As<double>().data());
  }

  void SetRows(std::span<const double> weights, int p) override {
    weights_ = weights;
    p_ = p;
    rows_.reset();  // its memory first
    rows_.emplace(x_, weights, p, options_.threads);
  }

 protected:
  int64_t stride() const { return KernelSolver::StrideOf(x_.rows); }
  double WeightOf(int64_t i) const {
    return options_.sample_weights.empty() ? 1 : options_.sample_weights[static_cast<size_t>(i)];
  }
  AnswerSlopes SlopesBy(const KernelShape& shape, const double* alpha, DeviceKernels* device) const {
    return {*rows_, shape, alpha, outputs_, weights_, options_.sample_weights, options_.threads, device};
  }

  ConstMatrixView x_;
  const KernelMachineOptions& options_;
  int64_t outputs_;
  AlignedBuffer targets_;  // column by column
  std::span<const double> weights_;
  int p_ = 1;
  std::optional<KernelRows> rows_;
};

class HostSystems final : public SystemsOfRows {
 public:
  HostSystems(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options, bool inverse)
      : SystemsOfRows(x, y, options),
        solver_(x.rows, y.cols, options.threads, inverse),
        distances_(TriangleSize(x.rows) * 8),
        kernel_(TriangleSize(x.rows) * 8) {
    if (LooksInF32(options, x.rows, inverse)) {
      narrow_.emplace(x.rows, y.cols, options.threads, inverse);
    }
  }

  void SetRows(std::span<const double> weights, int p) override {
    SystemsOfRows::SetRows(weights, p);
    EachPanel(options_.threads, x_.rows,
              [&](int64_t panel) { rows_->PanelOfDistances(panel, PanelOf(distances_, panel)); });
    kernel_scale_.reset();
  }

  double MedianDistance(std::span<const int64_t> rows) const override {
    const double* const distances = distances_.As<double>().data();
    return lamina::MedianDistance(rows, [&](int64_t i, int64_t j) { return distances[TrianglePlace(i, j)]; });
  }

  bool Solve(const KernelShape& shape, double ridge) override {
    exact_ = true;
    return SolveBy(solver_, shape, ridge);
  }

  bool Look(const KernelShape& shape, double ridge) override {
    if (!narrow_ || ridge < kLeastRidgeInF32) {
      return Solve(shape, ridge);
    }
    exact_ = false;
    return SolveBy(*narrow_, shape, ridge) || Solve(shape, ridge);
  }

  bool exact() const override { return exact_; }
  const double* alpha() const override { return exact_ ? solver_.alpha() : narrow_->alpha(); }
  void LeftOut(std::span<const int64_t> members, double* errors) const override {
    exact_ ? solver_.LeftOut(members, errors) : narrow_->LeftOut(members, errors);
  }
  void ByEarlier(int64_t i, int64_t begin, double* errors) const override { solver_.ByEarlier(i, begin, errors); }
  AnswerSlopes Slopes(const KernelShape& shape, const double* alpha) const override {
    return SlopesBy(shape, alpha, nullptr);
  }

 private:
  static double* PanelOf(const AlignedBuffer& triangle, int64_t p) {
    return triangle.As<double>().data() + TrianglePlace(p * cpu::kPanelRows, 0);
  }

  template <class T>
  bool SolveBy(KernelSolverOf<T>& solver, const KernelShape& shape, double ridge) {
    const bool known = kernel_scale_ == shape.scale && kernel_power_ == shape.power;
    kernel_scale_ = shape.scale;
    kernel_power_ = shape.power;
    EachPanel(options_.threads, x_.rows, [&](int64_t p) {
      const int64_t begin = p * cpu::kPanelRows;
      const int64_t end = std::min(x_.rows, begin + cpu::kPanelRows);
      const int64_t size = cpu::kPanelRows * end;
      const double* const kernel = PanelOf(kernel_, p);
      if (!known) {
        cpu::SymmetricKernels().kernels(PanelOf(distances_, p), size, shape, PanelOf(kernel_, p));
      }
      std::transform(kernel, kernel + size, solver.Panel(p), [](double value) { return static_cast<T>(value); });
      for (int64_t i = begin; i < end; ++i) {
        solver.At(i, i) = static_cast<T>(1 + ridge / WeightOf(i));
      }
    });
    return solver.Solve(targets_.As<double>().data());
  }

  KernelSolver solver_;
  std::optional<KernelSolverOf<float>> narrow_;
  bool exact_ = true;                   // the last system: by solver_
  AlignedBuffer distances_;             // panels of a triangle
  AlignedBuffer kernel_;                // of the last shape
  std::optional<double> kernel_scale_;  // whose kernel is kept
  double kernel_power_ = 0;
};

// The sums are the device's; errors of rows left out are worked out here from what it has found.
class DeviceSystems final : public SystemsOfRows {
 public:
  DeviceSystems(ConstMatrixView x, ConstMatrixView y, const KernelMachineOptions& options,
                const MakesDeviceKernels& device, bool inverse)
      : SystemsOfRows(x, y, options),
        inverse_(inverse),
        device_(device.MakeKernels({x.rows, x.cols, y.cols, stride(), inverse})),
        alpha_(y.cols * stride() * 8),
        inverse_diagonal_(static_cast<size_t>(inverse ? x.rows : 0)),
        diagonal_(static_cast<size_t>(x.rows)) {}

  void SetRows(std::span<const double> weights, int p) override {
    SystemsOfRows::SetRows(weights, p);
    device_->SetRows(rows_->view(), p);
  }

  double MedianDistance(std::span<const int64_t> rows) const override {
    return lamina::MedianDistance(rows, [&](int64_t i, int64_t j) {
      double sum = 0;
      for (int64_t k = 0; k < x_.cols; ++k) {
        const double difference = rows_->Row(i)[k] - rows_->Row(j)[k];
        sum += p_ == 1 ? std::abs(difference) : difference * difference;
      }
      return p_ == 1 ? sum : std::sqrt(sum);
    });
  }

  bool Solve(const KernelShape& shape, double ridge) override {
    StopPoint();
    lower_.clear();
    by_factor_.clear();
    for (int64_t i = 0; i < x_.rows; ++i) {
      diagonal_[static_cast<size_t>(i)] = 1 + ridge / WeightOf(i);
    }
    DeviceSystem system;
    system.shape = shape;
    system.diagonal = diagonal_.data();
    system.targets = targets_.As<double>().data();
    system.least_pivot = KernelSolver::kLeastPivot;
    system.alpha = alpha_.As<double>().data();
    system.inverse_diagonal = inverse_ ? inverse_diagonal_.data() : nullptr;
    return device_->Solve(system);
  }

  const double* alpha() const override { return alpha_.As<double>().data(); }

  void LeftOut(std::span<const int64_t> members, double* errors) const override {
    if (members.size() == 1) {
      for (int64_t c = 0; c < outputs_; ++c) {
        errors[c] = alpha()[c * stride() + members[0]] / inverse_diagonal_[static_cast<size_t>(members[0])];
      }
      return;
    }
    const auto count = std::ssize(members);
    std::vector<double> block(static_cast<size_t>(count * count));
    for (int64_t m = 0; m < count; ++m) {
      for (int64_t k = 0; k < count; ++k) {
        const auto [low, high] = std::minmax(members[static_cast<size_t>(m)], members[static_cast<size_t>(k)]);
        block[static_cast<size_t>(m * count + k)] = Lower(high)[low];
      }
    }
    SolveLeftOut({block.data(), members, alpha(), stride(), outputs_}, errors);
  }

  void ByEarlier(int64_t i, int64_t begin, double* errors) const override {
    if (by_factor_.empty()) {
      MultiplyByFactor();
    }
    for (int64_t c = 0; c < outputs_; ++c) {
      errors[c] = 0;
      for (int64_t j = begin; j <= i; ++j) {
        errors[c] += Lower(i)[j] * by_factor_[static_cast<size_t>(c * x_.rows + j)];
      }
    }
  }

  AnswerSlopes Slopes(const KernelShape& shape, const double* alpha) const override {
    return SlopesBy(shape, alpha, device_.get());
  }

 private:
  // Row i of the inverse, or of the factor, up to its diagonal; nobody may ask, so it is fetched when somebody does.
  const double* Lower(int64_t i) const {
    if (lower_.empty()) {
      lower_.resize(static_cast<size_t>(x_.rows * x_.rows));
      device_->Download(lower_.data());
    }
    return &lower_[static_cast<size_t>(i * x_.rows)];
  }

  // L' alpha = L^-1 Y.
  void MultiplyByFactor() const {
    by_factor_.assign(static_cast<size_t>(outputs_ * x_.rows), 0.0);
    for (int64_t i = 0; i < x_.rows; ++i) {
      const double* const row = Lower(i);
      for (int64_t c = 0; c < outputs_; ++c) {
        const double factor = alpha()[c * stride() + i];
        double* const to = &by_factor_[static_cast<size_t>(c * x_.rows)];
        for (int64_t j = 0; j <= i; ++j) {
          to[j] += factor * row[j];
        }
      }
    }
  }

  bool inverse_;
  std::unique_ptr<DeviceKernels> device_;
  AlignedBuffer alpha_;
  std::vector<double> inverse_diagonal_;
  std::vector<double> diagonal_;
  mutable std::vector<double> lower_;      // rows × rows, or not fetched
  mutable std::vector<double> by_factor_;  // output by output
};

}  // namespace

KernelPlace PlaceOfKernels(const KernelMachineOptions& options, int64_t rows) {
  const auto* const device = dynamic_cast<const MakesDeviceKernels*>(options.backend);
  if (device == nullptr || rows < options.least_device_rows) {
    return {};
  }
  const Verdict available = device->KernelsAvailable(rows);
  return available ? KernelPlace{device, ""} : KernelPlace{nullptr, available.reason};
}

std::unique_ptr<KernelSystems> MakeKernelSystems(ConstMatrixView x, ConstMatrixView y,
                                                 const KernelMachineOptions& options, bool inverse) {
  if (const KernelPlace place = PlaceOfKernels(options, x.rows); place.device != nullptr) {
    return std::make_unique<DeviceSystems>(x, y, options, *place.device, inverse);
  }
  return std::make_unique<HostSystems>(x, y, options, inverse);
}

}  // namespace lamina
