// Settings as a command that repeats them.
#include "lamina/train/command_line.h"

#include "gtest/gtest.h"

namespace lamina {
namespace {

TEST(CommandLine, OnlyWhatIsNotTheDefault) {
  TrainSettings settings;
  EXPECT_EQ(TrainCommandLine(settings), "lamina train");
  settings.data = "my data/it's.csv";
  settings.target = {"-1"};
  settings.hidden = {64, 32};
  settings.split = {0.8, 0.2, 0};
  settings.learning_rate = 0.125;
  settings.bias = false;
  settings.stratify = true;
  settings.seed = 7;
  const std::string before = "lamina train --data 'my data/it'\\''s.csv' --target=-1 --split 0.8,0.2,0.0 --stratify ";
  const std::string behind = " --no-bias --learning-rate 0.125 --seed 7";
  EXPECT_EQ(TrainCommandLine(settings), before + "--hidden 64,32" + behind);
  settings.layers = "rbf(radius=12):8,dot-softmax:2";
  EXPECT_EQ(TrainCommandLine(settings), before + "--layers 'rbf(radius=12):8,dot-softmax:2'" + behind)
      << "hidden has no effect beside them";
}

TEST(CommandLine, NamesWithCommas) {
  TrainSettings settings;
  settings.target = {"How often? (1 = never, 5 = daily)", "b"};
  EXPECT_EQ(TrainCommandLine(settings), "lamina train --target '\"How often? (1 = never, 5 = daily)\",b'");
}

}  // namespace
}  // namespace lamina
