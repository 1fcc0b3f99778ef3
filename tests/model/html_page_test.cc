// What a page is made of: base64 by hand, the blob, and that its engine knows every name of the library's lists.
#include "lamina/model/html_page/html_page.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "lamina/data/encode/derive.h"
#include "lamina/model/html_page/page_files.h"
#include "lamina/neuron/activation.h"
#include "tests/caught_error.h"

namespace lamina {
namespace {

std::string EngineText() {
  std::string text;
  for (const std::string_view part : PageEngine()) {
    text += part;
  }
  return text;
}

Model ModelOf(const Activation& activation) {
  Model model;
  model.network = Network({{3, 2, Synapse::kDot, activation, true}}, DType::kF32);
  return model;
}

struct Doubled {
  static constexpr const char* kName = "doubled";
  static constexpr bool kSlopeNeedsInput = false;
  template <class T>
  T Value(T z) const {
    return z * T(2);
  }
  template <class T>
  T Slope(T, T) const {
    return T(2);
  }
};

TEST(HtmlPage, ArraysBeginOnEightBytes) {
  PageBlob blob;
  const int8_t bytes[] = {1, 2, 3};
  const float numbers[] = {0.5F, -2.0F};
  EXPECT_EQ(blob.Add(bytes, 3, DType::kI8), nlohmann::json({{"at", 0}, {"count", 3}, {"type", "i8"}}));
  EXPECT_EQ(blob.Add(numbers, 2, DType::kF32), nlohmann::json({{"at", 8}, {"count", 2}, {"type", "f32"}}));
  ASSERT_EQ(blob.bytes().size(), 16U);
  EXPECT_EQ(std::memcmp(blob.bytes().data() + 8, numbers, sizeof(numbers)), 0);
}

// A new one is forgotten in JavaScript no more than elsewhere: tests/cli/c_source_test.py then shows its values.
TEST(HtmlPage, TheEngineKnowsEveryName) {
  const std::string engine = EngineText();
  for (const std::string& name : ActivationNames()) {
    const bool known = name == "softmax" ? engine.find("\"softmax\"") != std::string::npos
                                         : engine.find("\n  " + name + ": (") != std::string::npos;
    EXPECT_TRUE(known) << name;
  }
  for (const DeriveFunction& function : DeriveFunctions()) {
    if (function.argument != "[count]") {  // those are numbers of the row
      EXPECT_NE(engine.find("\"" + std::string(function.name) + "\""), std::string::npos) << function.name;
    }
  }
}

TEST(HtmlPage, ABareNetworkHasAPageAndAUsersActivationNone) {
  const std::string html = ToHtml(ModelOf("tanh"));
  EXPECT_NE(html.find("\"title\":\"lamina\""), std::string::npos);
  EXPECT_EQ(html.find("{{"), std::string::npos) << "a mark of the template is left";
  const Error error = CaughtError([] { ToHtml(ModelOf(Activation::Custom<Doubled>())); });
  EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error.context().value, "doubled");
}

}  // namespace
}  // namespace lamina
