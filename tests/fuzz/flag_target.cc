// Readers of texts that stand in flags: derived columns, layers.
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/data/encode/derive.h"
#include "lamina/data/files/csv.h"
#include "lamina/neuron/problem.h"
#include "lamina/nn/network.h"
#include "tests/fuzz/fuzz_target.h"

namespace lamina::fuzz {
namespace {

// A column to derive on each line; of the last two series and order.
void FuzzDerive(std::string_view input) {
  static const std::string table_text =
      "day,price,shop,n\n2024-01-03,1.5,a,3\n2024-01-01,2.5,b,-4\n2024-01-02,,a,5\n2024-02-29,0,b,\n2023-12-31,7,a,9\n";
  Bytes bytes(input);
  DeriveOptions options;
  const uint8_t how = bytes.Byte();
  options.series_by = (how & 1) != 0 ? "shop" : "";
  options.order_by = (how & 2) != 0 ? "day" : "";
  options.columns = Lines(bytes.Rest());
  if (!Accepts("", [&] { ValidateDerive(options); })) {
    return;
  }
  Accepts("", [&] {
    Table table = ReadCsv(table_text, "table.csv", {});
    const size_t columns = table.columns.size();
    DeriveColumns(table, options);
    Demand(table.columns.size() == columns + options.columns.size(), "another number of columns than was asked for");
    for (const Column& column : table.columns) {
      for (int64_t row = 0; row < table.rows; ++row) {
        Demand(column.kind == ColumnKind::kText || column.IsMissing(row) || column.Number(row) == column.Number(row),
               "a derived value that is neither missing nor a number");
      }
    }
  });
}

// What is accepted for a network makes one.
void MakeNetwork(const std::vector<LayerSpec>& layers) {
  constexpr int64_t kMostWeights = 10'000;
  const Verdict verdict = Network::CheckLayers(layers, DType::kF32);
  Demand(verdict.ok == verdict.reason.empty(), "layers are refused without a reason, or accepted with one");
  int64_t weights = 0;
  for (const LayerSpec& layer : layers) {
    Demand(!verdict || (layer.inputs > 0 && layer.outputs > 0), "an empty layer");
    weights += verdict ? layer.weight_count() : 0;
  }
  if (verdict && weights <= kMostWeights) {
    Network network(layers, DType::kF32);
    network.Initialize(Initialization::kHeNormal, 1);
    Demand(network.inputs() == 5 && network.outputs() == layers.back().outputs, "a network of another shape");
  }
}

// First byte: a neuron, a network's layers or a problem.
void FuzzLayers(std::string_view input) {
  Bytes bytes(input);
  const uint8_t how = bytes.Byte();
  const std::string_view text = bytes.Rest();
  Accepts("", [&] {
    if (how % 3 == 0) {
      const LayerSpec layer = ParseNeuron(text);
      Demand(ParseNeuron(NeuronText(layer)) == layer, "another neuron when read again");
    } else if (how % 3 == 1) {
      MakeNetwork(ParseLayers(text, 5, (how & 4) != 0));
    } else {
      const Problem problem = Problem::Parse(text);
      Demand(Problem::Parse(problem.Text()).Text() == problem.Text(), "another problem when read again");
    }
  });
}

const RegisteredTargets flag_targets{{"derive", &FuzzDerive}, {"layers", &FuzzLayers}};

}  // namespace
}  // namespace lamina::fuzz
