// Zero inputs and zero weights left out by backend cpu (docs/decisions/0012-skipping-zeros.md): the bits of the path
// that leaves out nothing, which is that of LayerPlanRequest::any_slicing.
#include <cstring>

#include "tests/conformance/configurations.h"

namespace lamina::conformance {
namespace {

LayerPlanRequest RequestFor(const Shape& shape, DType dtype, bool leave_out) {
  LayerPlanRequest request;
  request.layer = {shape.inputs, shape.outputs, Synapse::kDot, Activation("tanh"), true};
  request.dtype = dtype;
  request.max_batch = shape.batch;
  request.training = true;
  request.any_slicing = !leave_out;
  return request;
}

// Whether an input is zero.
using Pattern = bool (*)(int64_t row, int64_t column, const Shape& shape);

struct NamedPattern {
  const char* name;
  Pattern is_zero;
};

const std::vector<NamedPattern>& Patterns() {
  static const std::vector<NamedPattern> kPatterns{
      {"all zero", [](int64_t, int64_t, const Shape&) { return true; }},
      {"rows", [](int64_t row, int64_t, const Shape&) { return row % 4 != 1; }},
      {"columns", [](int64_t, int64_t column, const Shape&) { return column % 3 != 1; }},
      {"the last column is all there is",
       [](int64_t, int64_t column, const Shape& shape) { return column + 1 != shape.inputs; }},
      {"a quarter", [](int64_t row, int64_t column,
                       const Shape& shape) { return 2 * row < shape.batch || 2 * column < shape.inputs; }},
      {"pictures",  // a window that differs from row to row
       [](int64_t row, int64_t column, const Shape& shape) {
         const int64_t begin = (row * 7) % (shape.inputs / 2 + 1);
         return column < begin || column >= begin + shape.inputs / 3;
       }},
      {"none", [](int64_t, int64_t, const Shape&) { return false; }},
  };
  return kPatterns;
}

// Zeros of both signs where the pattern has them, no others.
template <class T>
std::vector<T> Inputs(const Shape& shape, Pattern is_zero, bool integers) {
  const Dense values = integers ? Integers(shape.batch, shape.inputs, 1) : Reals(shape.batch, shape.inputs, 1);
  std::vector<T> x;
  for (int64_t i = 0; i < shape.batch; ++i) {
    for (int64_t k = 0; k < shape.inputs; ++k) {
      const T zero = (i + k) % 2 == 0 ? T(0) : -T(0);
      const T value = static_cast<T>(values.at(i, k));
      x.push_back(is_zero(i, k, shape) ? zero : value == 0 ? T(3) : value);
    }
  }
  return x;
}

template <class T>
std::vector<T> ValuesOf(const Dense& m) {
  return {m.values.begin(), m.values.end()};
}

// The same bits; any NaN is as good as another.
template <class T>
testing::AssertionResult SameBits(const std::vector<T>& got, const std::vector<T>& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0 && !(std::isnan(got[i]) && std::isnan(want[i]))) {
      return testing::AssertionFailure() << "element " << i << " is " << got[i] << ", not " << want[i];
    }
  }
  return testing::AssertionSuccess();
}

// Ragged panels, few and many rows, sums and rows in several blocks, fewer inputs than lanes, weights that share a set
// of the cache.
std::vector<Shape> ShapesWithZeros() {
  return {{16, 64, 64},   {12, 65, 19},    {33, 70, 45},   {40, 130, 300}, {100, 96, 513}, {16, 80, 5},
          {16, 2200, 31}, {20, 100, 2311}, {70, 200, 100}, {600, 64, 40},  {17, 73, 1100}, {20, 100, 512}};
}

class ZerosConformance : public testing::TestWithParam<Configuration> {
 protected:
  template <class T>
  std::vector<T> Forward(const Shape& shape, bool leave_out, std::vector<T>& x, std::vector<T>& w) {
    std::vector<T> bias = ValuesOf<T>(Reals(1, shape.outputs, 4));
    std::vector<T> a(static_cast<size_t>(shape.batch * shape.outputs));
    ForwardArgs args;
    args.x = ViewOf(x.data(), shape.batch, shape.inputs);
    args.weights = ViewOf(w.data(), shape.outputs, shape.inputs);
    args.bias = bias.data();
    args.a = ViewOf(a.data(), shape.batch, shape.outputs);
    chosen_->Prepare(RequestFor(shape, DTypeOf<T>(), leave_out))->Forward(args);
    return a;
  }

  // Weights after an update with momentum, then the momentum.
  template <class T>
  std::vector<T> Update(const Shape& shape, bool leave_out, std::vector<T>& x, std::vector<T>& delta) {
    const auto weights = static_cast<size_t>(shape.outputs * shape.inputs);
    std::vector<T> value = ValuesOf<T>(Integers(shape.outputs, shape.inputs, 2));
    std::vector<T> gradient(weights), state = ValuesOf<T>(Integers(shape.outputs, shape.inputs, 7));
    std::vector<T> bias(static_cast<size_t>(shape.outputs)), bias_gradient = bias, bias_state = bias;
    UpdateRule rule;
    rule.learning_rate = 0.5;
    rule.momentum = 0.25;
    WeightGradientArgs args;
    args.x = ViewOf(x.data(), shape.batch, shape.inputs);
    args.delta = ViewOf(delta.data(), shape.batch, shape.outputs);
    args.weights = {value.data(), gradient.data(), {state.data()}};
    args.bias = {bias.data(), bias_gradient.data(), {bias_state.data()}};
    args.rule = &rule;
    chosen_->Prepare(RequestFor(shape, DTypeOf<T>(), leave_out))->WeightGradient(args);
    value.insert(value.end(), state.begin(), state.end());
    return value;
  }

  Chosen chosen_{GetParam()};
};

TEST_P(ZerosConformance, ForwardHasTheSameBits) {
  for (const Shape& shape : ShapesWithZeros()) {
    for (const NamedPattern& pattern : Patterns()) {
      const auto check = [&]<class T>(T) {
        SCOPED_TRACE(testing::Message() << pattern.name << ", " << shape.batch << "x" << shape.outputs << "x"
                                        << shape.inputs << " of " << sizeof(T) << " bytes");
        std::vector<T> x = Inputs<T>(shape, pattern.is_zero, false);
        std::vector<T> w = ValuesOf<T>(Reals(shape.outputs, shape.inputs, 2));
        EXPECT_TRUE(SameBits(Forward(shape, true, x, w), Forward(shape, false, x, w)));
        // Inputs that are not numbers are not zero.
        x.front() = std::numeric_limits<T>::quiet_NaN();
        x[x.size() / 2] = std::numeric_limits<T>::infinity();
        x.back() = -std::numeric_limits<T>::infinity();
        EXPECT_TRUE(SameBits(Forward(shape, true, x, w), Forward(shape, false, x, w)));
      };
      check(float());
      check(double());
    }
  }
}

TEST_P(ZerosConformance, ForwardOfZeroWeightsHasTheSameBits) {
  for (const Shape& shape : std::vector<Shape>{
           {64, 100, 45}, {70, 200, 100}, {600, 64, 40}, {100, 96, 513}, {65, 1000, 300}, {90, 64, 1100}}) {
    for (const NamedPattern& pattern : Patterns()) {
      const auto check = [&]<class T>(T) {
        SCOPED_TRACE(testing::Message() << pattern.name << ", " << shape.batch << "x" << shape.outputs << "x"
                                        << shape.inputs << " of " << sizeof(T) << " bytes");
        std::vector<T> x = ValuesOf<T>(Reals(shape.batch, shape.inputs, 2));
        std::vector<T> w = Inputs<T>({shape.outputs, shape.batch, shape.inputs}, pattern.is_zero, false);
        EXPECT_TRUE(SameBits(Forward(shape, true, x, w), Forward(shape, false, x, w)));
      };
      check(float());
      check(double());
    }
  }
}

// Integers are tested because a ragged last panel without zeros left out may be summed in two halves.
TEST_P(ZerosConformance, TheWeightGradientHasTheSameBits) {
  for (const Shape& shape : ShapesWithZeros()) {
    for (const NamedPattern& pattern : Patterns()) {
      const auto check = [&]<class T>(T) {
        SCOPED_TRACE(testing::Message() << pattern.name << ", " << shape.batch << "x" << shape.outputs << "x"
                                        << shape.inputs << " of " << sizeof(T) << " bytes");
        std::vector<T> x = Inputs<T>(shape, pattern.is_zero, true);
        std::vector<T> delta = ValuesOf<T>(Integers(shape.batch, shape.outputs, 3));
        EXPECT_TRUE(SameBits(Update(shape, true, x, delta), Update(shape, false, x, delta)));
        x.front() = std::numeric_limits<T>::quiet_NaN();
        x.back() = std::numeric_limits<T>::infinity();
        EXPECT_TRUE(SameBits(Update(shape, true, x, delta), Update(shape, false, x, delta)));
      };
      check(float());
      check(double());
    }
  }
}

// What tells that zeros are left out at all, and the one difference that it makes.
TEST_P(ZerosConformance, AZeroMeetsNoInfinity) {
  const Shape shape{32, 96, 160};
  const Pattern columns = Patterns()[2].is_zero;
  const auto check = [&]<class T>(T) {
    const T infinity = std::numeric_limits<T>::infinity();
    std::vector<T> x = Inputs<T>(shape, columns, true);
    std::vector<T> w = ValuesOf<T>(Integers(shape.outputs, shape.inputs, 2));
    const std::vector<T> finite = Forward(shape, true, x, w);
    w.front() = infinity;  // of input 0, which is always zero
    EXPECT_TRUE(SameBits(Forward(shape, true, x, w), finite));
    EXPECT_TRUE(std::isnan(Forward(shape, false, x, w).front())) << "0 times infinity";
    const Shape many{96, 32, 160};  // the same of weights
    std::vector<T> zeros = Inputs<T>({many.outputs, many.batch, many.inputs}, columns, true);
    std::vector<T> rows = ValuesOf<T>(Integers(many.batch, many.inputs, 2));
    const std::vector<T> finite_rows = Forward(many, true, rows, zeros);
    rows.front() = infinity;
    EXPECT_TRUE(SameBits(Forward(many, true, rows, zeros), finite_rows));

    std::vector<T> delta = ValuesOf<T>(Integers(shape.batch, shape.outputs, 3));
    std::vector<T> pictures = Inputs<T>(shape, Patterns()[5].is_zero, true);
    delta.front() = infinity;  // of row 0, whose last inputs are zero
    const auto last_of_output_0 = static_cast<size_t>(shape.inputs - 1);
    EXPECT_TRUE(std::isfinite(Update(shape, true, pictures, delta)[last_of_output_0]));
    EXPECT_TRUE(std::isnan(Update(shape, false, pictures, delta)[last_of_output_0]));
  };
  check(float());
  check(double());
}

INSTANTIATE_TEST_SUITE_P(All, ZerosConformance, testing::ValuesIn(OwnConfigurations()),
                         [](const auto& info) { return info.param.Name(); });

}  // namespace
}  // namespace lamina::conformance
