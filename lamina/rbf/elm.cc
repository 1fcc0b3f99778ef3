// Drawing, summing, solving.
#include "lamina/rbf/elm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lamina/backend/reductions.h"
#include "lamina/backend/staged_layer.h"
#include "lamina/base/convert.h"
#include "lamina/base/error.h"
#include "lamina/base/random.h"
#include "lamina/base/stop.h"
#include "lamina/base/team.h"
#include "lamina/rbf/elm_shards.h"
#include "lamina/rbf/even_rows.h"
#include "lamina/rbf/leave_one_out.h"
#include "lamina/rbf/ridge.h"

namespace lamina {
namespace {

constexpr int64_t kRowsOfBlock = 1024;  // hidden activations held at once; f32 sums are this long at most
constexpr int64_t kSynapsesOfBlock = int64_t{1} << 33;  // and so much computed before the next stop point
constexpr int64_t kMostTile = 1024;
constexpr int64_t kLeftOut = 4096;  // rows, evenly spread, by which C is chosen
constexpr uint64_t kHiddenStream = 903;
constexpr uint64_t kHiddenRowStream = 904;

// From -1 to 1.
double Drawn(HiddenWeights weights, double uniform) {
  switch (weights) {
    case HiddenWeights::kUniform: return uniform;
    case HiddenWeights::kSigns: return uniform < 0 ? -1 : 1;
    case HiddenWeights::kTwoBits: return std::round(uniform);
    case HiddenWeights::kEightBits: return std::round(uniform * 127) / 127;
  }
  return uniform;
}

// C, largest ridge first.
std::vector<double> CandidatesOfC(double mean_diagonal) {
  std::vector<double> all;
  for (int half_decades = 0; half_decades <= 16; ++half_decades) {
    all.push_back(std::pow(10.0, half_decades / 2.0) / mean_diagonal);
  }
  return all;
}

std::vector<double> RidgesOf(const std::vector<double>& c) {
  std::vector<double> ridges;
  std::transform(c.begin(), c.end(), std::back_inserter(ridges), [](double value) { return 1 / value; });
  return ridges;
}

double MeanDiagonal(ConstMatrixView a) {
  double sum = 0;
  for (int64_t i = 0; i < a.rows; ++i) {
    sum += a.Row<double>(i)[i];
  }
  return std::max(sum / static_cast<double>(std::max<int64_t>(1, a.rows)), 1e-300);
}

[[noreturn]] void ThrowSingular(const Factorisation& failed, double c) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("the hidden activations are too much alike to be solved for: pivot {} is not positive "
                  "(condition above {:.1e})",
                  failed.failed_at + 1, failed.condition),
      {.value = fmt::format("C = {:g}", c), .remedy = "Use a smaller --ridge-c, leave it out, or use --dtype f64."});
}

// fn(begin, count) for some rows after the others, with stop points between: the first touch of memory takes longer
// than what is done with it.
template <class Fn>
void InPieces(int64_t rows, int64_t cols, const Fn& fn) {
  constexpr int64_t kNumbers = int64_t{1} << 22;
  const int64_t piece = std::max<int64_t>(1, kNumbers / std::max<int64_t>(1, cols));
  for (int64_t begin = 0; begin < rows; begin += piece) {
    fn(begin, std::min(piece, rows - begin));
    StopPoint();
  }
}

// Copies in f64; `weights`: every row times the root of its own.
Matrix InF64(ConstMatrixView rows, std::span<const double> weights) {
  Matrix numbers(rows.rows, rows.cols, DType::kF64);
  InPieces(rows.rows, rows.cols, [&](int64_t begin, int64_t count) {
    ConvertMatrix(rows.Rows(begin, count), numbers.view().Rows(begin, count));
  });
  for (int64_t i = 0; i < std::ssize(weights); ++i) {
    double* const row = numbers.Row<double>(i);
    const double root = std::sqrt(weights[static_cast<size_t>(i)]);
    std::transform(row, row + rows.cols, row, [root](double value) { return value * root; });
  }
  return numbers;
}

void ScaleRows(MatrixView rows, std::span<const double> weights) {
  DispatchFloat(rows.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < std::ssize(weights); ++i) {
      T* const row = rows.Row<T>(i);
      const T root = static_cast<T>(std::sqrt(weights[static_cast<size_t>(i)]));
      std::transform(row, row + rows.cols, row, [root](T value) { return value * root; });
    }
  });
}

std::span<const double> Part(std::span<const double> weights, int64_t begin, int64_t count) {
  return weights.empty() ? weights : weights.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
}

void StoreOutputWeights(ConstMatrixView solved, Network& network) {
  DispatchFloat(network.dtype(), [&]<class T>(T) {
    for (int64_t k = 0; k < solved.cols; ++k) {
      T* const row = network.Weights(1).Row<T>(k);
      for (int64_t j = 0; j < solved.rows; ++j) {
        row[j] = static_cast<T>(solved.Row<double>(j)[k]);
      }
    }
  });
}

// Activations of a network's hidden layer for any number of rows.
Matrix HiddenOf(const Network& network, ConstMatrixView rows, const Backend& backend) {
  const LayerSpec& layer = network.layers()[0];
  Matrix hidden(rows.rows, layer.outputs, network.dtype());
  StagedLayer prepared(backend, {layer, network.dtype(), std::min(kRowsOfBlock, rows.rows)});
  for (int64_t begin = 0; begin < rows.rows; begin += kRowsOfBlock) {
    const int64_t count = std::min(kRowsOfBlock, rows.rows - begin);
    ForwardArgs args;
    args.x = rows.Rows(begin, count);
    args.weights = network.Weights(0);
    args.bias = network.Bias(0);
    args.a = hidden.view().Rows(begin, count);
    prepared.Forward(args);
    StopPoint();
  }
  return hidden;
}

// Fewer rows than hidden neurons: (I/C + HH') A = T, W = H'A.
double SolveByRows(Network& network, const Dataset& train, const std::optional<double>& given_c,
                   const Backend& backend) {
  const Matrix h = InF64(HiddenOf(network, train.features.view(), backend).view(), train.sample_weights);
  Matrix solved = InF64(train.targets.view(), train.sample_weights);
  Matrix a(h.rows(), h.rows(), DType::kF64);
  MultiplyTransposed(h.view(), h.view(), a.view(), backend);
  double c = given_c.value_or(0);
  if (!given_c) {
    Matrix copy = InF64(a.view(), {});
    const std::vector<double> candidates = CandidatesOfC(MeanDiagonal(a.view()));
    const int64_t best =
        BestRidgeOfRows(Tridiagonal(std::move(copy), backend.threads()), solved.view(), RidgesOf(candidates));
    c = candidates[static_cast<size_t>(std::max<int64_t>(0, best))];
  }
  for (int64_t i = 0; i < a.rows(); ++i) {
    a.Row<double>(i)[i] += 1 / c;
  }
  if (const Factorisation factor = FactoriseCholesky(a.view(), backend); !factor.complete) {
    ThrowSingular(factor, c);
  }
  SolveCholesky(a.view(), solved.view());
  Matrix weights(h.cols(), solved.cols(), DType::kF64);
  for (int64_t i = 0; i < h.rows(); ++i) {
    for (int64_t j = 0; j < h.cols(); ++j) {
      for (int64_t k = 0; k < solved.cols(); ++k) {
        weights.Row<double>(j)[k] += h.Row<double>(i)[j] * solved.Row<double>(i)[k];
      }
    }
    StopPoint();
  }
  StoreOutputWeights(weights.view(), network);
  return c;
}

}  // namespace

Network DrawElm(const LayerSpec& hidden, int64_t outputs, HiddenWeights weights, ConstMatrixView rows, uint64_t seed) {
  Network network({hidden, {hidden.outputs, outputs, Synapse::kDot, Activation(), /*bias=*/false}}, rows.dtype);
  Random random(seed, kHiddenStream);
  std::vector<int64_t> order(static_cast<size_t>(rows.rows));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(seed, kHiddenRowStream).Shuffle(std::span(order));
  DispatchFloat(rows.dtype, [&]<class T>(T) {
    for (int64_t j = 0; j < hidden.outputs; ++j) {
      T* const to = network.Weights(0).Row<T>(j);
      if (IsDistance(hidden.synapse)) {
        std::copy_n(rows.Row<T>(order[static_cast<size_t>(j % rows.rows)]), hidden.inputs, to);
        continue;
      }
      const auto draw = [&] { return static_cast<T>(Drawn(weights, random.Uniform(-1, 1))); };
      std::generate_n(to, hidden.inputs, draw);
      if (hidden.bias) {
        static_cast<T*>(network.Bias(0))[j] = draw();
      }
    }
  });
  return network;
}

// [H T] of a block of rows, and the lower triangle of its products with itself: H'H, and below it T'H. By the backend
// in one go, or as gradients of weights, tile by tile.
class ElmSums::Products {
 public:
  Products(const Network& network, const Backend& backend, Precision precision)
      : neurons_(network.layers()[0].outputs),
        columns_(neurons_ + network.outputs()),
        tile_(TileFor(columns_)),
        threads_(backend.threads()),
        block_(kRowsOfBlock, (columns_ + tile_ - 1) / tile_ * tile_, network.dtype()),
        sums_(columns_, columns_, DType::kF64),
        forward_(backend, {network.layers()[0], network.dtype(), kRowsOfBlock}) {
    InPieces(columns_, columns_, [&](int64_t begin, int64_t count) {
      constexpr int64_t kPage = 512;  // the first block of rows would be the first to touch all of them
      for (int64_t i = begin; i < begin + count; ++i) {
        for (int64_t j = 0; j <= i; j += kPage) {
          sums_.Row<double>(i)[j] = 0;
        }
      }
    });
    if (const auto* const reduces = dynamic_cast<const Reduces*>(&backend)) {
      gram_sum_ = reduces->PrepareGram({kRowsOfBlock, columns_, network.dtype(), precision});
    }
    if (gram_sum_ == nullptr) {
      gradient_.emplace(backend, GradientRequest(tile_, network.dtype(), precision));
      part_ = Matrix(tile_, tile_, network.dtype());
    }
  }

  void Add(const Network& network, ConstMatrixView rows, ConstMatrixView targets, std::span<const double> weights) {
    ForwardArgs args;
    args.x = rows;
    args.weights = network.Weights(0);
    args.bias = network.Bias(0);
    args.a = Columns(block_.view().Rows(0, rows.rows), 0, neurons_);
    forward_.Forward(args);
    ConvertMatrix(targets, Columns(block_.view().Rows(0, rows.rows), neurons_, columns_ - neurons_));
    const MatrixView block = Columns(block_.view().Rows(0, rows.rows), 0, columns_);
    ScaleRows(block, weights);
    if (gram_sum_ != nullptr) {
      gram_sum_->Add(block, sums_.view());
    } else {
      AddTiles(rows.rows);
    }
  }

  MatrixView sums() { return sums_.view(); }

  // The lower triangle of H'H.
  ConstMatrixView gram() const { return Columns(sums_.view().Rows(0, neurons_), 0, neurons_); }

  Matrix Cross() const {  // H'T
    Matrix cross(neurons_, columns_ - neurons_, DType::kF64);
    for (int64_t j = 0; j < neurons_; ++j) {
      for (int64_t k = 0; k < cross.cols(); ++k) {
        cross.Row<double>(j)[k] = sums_.Row<double>(neurons_ + k)[j];
      }
    }
    return cross;
  }

 private:
  static int64_t TileFor(int64_t columns) {
    const int64_t tiles = (columns + kMostTile - 1) / kMostTile;
    return ((columns + tiles - 1) / tiles + 15) / 16 * 16;
  }

  // The gradient of weights is delta' x: that product, for any backend, is what is wanted.
  static LayerPlanRequest GradientRequest(int64_t tile, DType dtype, Precision precision) {
    LayerPlanRequest request{{tile, tile, Synapse::kDot, Activation(), /*bias=*/false}, dtype, kRowsOfBlock};
    request.training = true;
    request.precision = precision;
    return request;
  }

  void AddTiles(int64_t rows) {
    for (int64_t j = 0; j < columns_; j += tile_) {
      for (int64_t i = j; i < columns_; i += tile_) {
        WeightGradientArgs args;
        args.x = Columns(block_.view().Rows(0, rows), j, tile_);
        args.delta = Columns(block_.view().Rows(0, rows), i, tile_);
        args.weights.value = part_.data();  // not read: a dot layer
        args.weights.gradient = part_.data();
        gradient_->WeightGradient(args);
        AddPart(i, j);
        StopPoint();
      }
    }
  }

  void AddPart(int64_t i_begin, int64_t j_begin) {
    const int64_t rows = std::min(tile_, columns_ - i_begin);
    const int64_t cols = std::min(tile_, columns_ - j_begin);
    DispatchFloat(part_.dtype(), [&]<class T>(T) {
      RunParts(threads_, rows, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const T* const part = part_.Row<T>(i);
          double* const to = sums_.Row<double>(i_begin + i) + j_begin;
          for (int64_t j = 0; j < cols; ++j) {
            to[j] += static_cast<double>(part[j]);
          }
        }
      });
    });
  }

  int64_t neurons_;
  int64_t columns_;  // neurons and targets
  int64_t tile_;
  int threads_;
  Matrix block_;
  Matrix sums_;
  StagedLayer forward_;
  std::unique_ptr<GramSum> gram_sum_;
  // Where the backend has no such sum:
  std::optional<StagedLayer> gradient_;
  Matrix part_;
};

ElmSums::ElmSums(const Network& network, const Backend& backend, Precision precision)
    : network_(network), backend_(backend), products_(std::make_unique<Products>(network, backend, precision)) {}

ElmSums::~ElmSums() = default;

void ElmSums::Add(ConstMatrixView rows, ConstMatrixView targets, std::span<const double> weights) {
  const int64_t columns = products_->sums().cols;
  const int64_t block = std::clamp<int64_t>(kSynapsesOfBlock / (columns * columns), 64, kRowsOfBlock);
  for (int64_t begin = 0; begin < rows.rows; begin += block) {
    const int64_t count = std::min(block, rows.rows - begin);
    products_->Add(network_, rows.Rows(begin, count), targets.Rows(begin, count), Part(weights, begin, count));
    StopPoint();
  }
}

MatrixView ElmSums::sums() { return products_->sums(); }

void ElmSums::Solve(double c, Network& network) const {
  const ConstMatrixView gram = products_->gram();
  Matrix a(gram.rows, gram.cols, DType::kF64);
  InPieces(a.rows(), a.cols(), [&](int64_t piece, int64_t count) {
    RunParts(backend_.threads(), count, [&](int64_t begin, int64_t end) {
      for (int64_t i = piece + begin; i < piece + end; ++i) {
        std::copy_n(gram.Row<double>(i), i + 1, a.Row<double>(i));
        a.Row<double>(i)[i] += 1 / c;
      }
    });
  });
  if (const Factorisation factor = FactoriseCholesky(a.view(), backend_); !factor.complete) {
    ThrowSingular(factor, c);
  }
  Matrix solved = products_->Cross();
  SolveCholesky(a.view(), solved.view());
  StoreOutputWeights(solved.view(), network);
}

double ElmSums::ChooseC(ConstMatrixView rows, ConstMatrixView targets, std::span<const double> weights) const {
  const ConstMatrixView gram = products_->gram();
  Matrix a(gram.rows, gram.cols, DType::kF64);
  InPieces(a.rows(), a.cols(), [&](int64_t begin, int64_t count) {
    for (int64_t i = begin; i < begin + count; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        a.Row<double>(i)[j] = a.Row<double>(j)[i] = gram.Row<double>(i)[j];
      }
    }
  });
  const std::vector<double> candidates = CandidatesOfC(MeanDiagonal(a.view()));
  const Matrix hidden = InF64(HiddenOf(network_, rows, backend_).view(), weights);
  const Matrix wanted = InF64(targets, weights);
  const int64_t best = BestRidge(Tridiagonal(std::move(a), backend_.threads()), products_->Cross().view(),
                                 hidden.view(), wanted.view(), RidgesOf(candidates), backend_);
  return candidates[static_cast<size_t>(std::max<int64_t>(0, best))];
}

std::optional<double> TrainElm(Network& network, const Dataset& train, const ElmOptions& options,
                               const Backend& backend) {
  if (train.size() < network.layers()[0].outputs) {
    return SolveByRows(network, train, options.c, backend);
  }
  ElmSums sums(network, backend, options.precision);
  if (!AddElmRows(train, options, backend.threads(), sums)) {
    return std::nullopt;
  }
  double c = options.c.value_or(0);
  if (!options.c) {
    const Dataset rows = EvenRows(train, kLeftOut);
    c = sums.ChooseC(rows.features.view(), rows.targets.view(), rows.sample_weights);
  }
  sums.Solve(c, network);
  return c;
}

}  // namespace lamina
