// The table.
#include "lamina/data/files/fetch_table.h"

#include "lamina/base/names.h"

namespace lamina {

std::span<const FetchSpec> FetchTable() {
  static const std::vector<FetchSpec> kTable{
      {"mnist",
       "MNIST handwritten digits, 60,000 + 10,000 images of 28 x 28",
       "CC BY-SA 3.0",
       {"https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/"},
       {{"train-images-idx3-ubyte.gz", 9912422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
        {"train-labels-idx1-ubyte.gz", 28881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
        {"t10k-images-idx3-ubyte.gz", 1648877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
        {"t10k-labels-idx1-ubyte.gz", 4542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}}},
      {"kddcup99",
       "KDD Cup 1999 network intrusions, 10 % training part and corrected test part, 494,021 + 311,029 rows",
       "CC BY 4.0",
       {"http://kdd.ics.uci.edu/databases/kddcup99/",
        "https://archive.ics.uci.edu/ml/machine-learning-databases/kddcup99-mld/"},
       {{"kddcup.data_10_percent.gz", 2144903, "8045aca0d84e70e622d1148d7df782496f6333bf6eb979a1b0837c42a9fd9561"},
        {"corrected.gz", 1409035, "abd8165508378859b07e38537271f0ebf8a4d7319f643188cd7361e939a05c43"},
        {"kddcup.names", 1307, "4b903fb4d68c17d02b5c776998c21fa9d9d8b018348849bed7aadeda21893386"},
        {"training_attack_types", 272, "0762f0d4405ef457e60b0179145e5fca328b5103a9364a81e63b99d9f0620c74"}}},
  };
  return kTable;
}

const FetchSpec& FindFetchSpec(std::string_view name) {
  std::vector<std::string> names;
  for (const FetchSpec& spec : FetchTable()) {
    if (spec.name == name) {
      return spec;
    }
    names.push_back(spec.name);
  }
  ThrowUnknownName(name, names, "unknown data set");
}

int64_t FetchSpec::TotalBytes() const {
  int64_t total = 0;
  for (const FetchFile& file : files) {
    total += file.size_bytes;
  }
  return total;
}

}  // namespace lamina
