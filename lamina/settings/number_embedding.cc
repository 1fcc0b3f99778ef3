// The names.
#include "lamina/settings/number_embedding.h"

#include "lamina/base/names.h"

namespace lamina {
namespace {

constexpr Named<NumberEmbedding> kNumberEmbeddings[] = {{"none", NumberEmbedding::kNone},
                                                        {"pbld", NumberEmbedding::kPbld}};

}  // namespace

std::vector<std::string> NumberEmbeddingNames() { return NamesIn(kNumberEmbeddings); }

NumberEmbedding NumberEmbeddingOf(const TrainSettings& settings) {
  return ParseName(settings.number_embedding, kNumberEmbeddings, "unknown embedding of numbers");
}

bool LearnsWaves(const TrainSettings& settings) {
  return settings.number_embedding == NameOf(NumberEmbedding::kPbld, kNumberEmbeddings);
}

}  // namespace lamina
