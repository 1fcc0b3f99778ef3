// What a run that goes on takes from its checkpoint: never where files are written.
#include "lamina/run/resume.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace lamina {
namespace {

std::string LeftOut(const ResumedSettings& resumed) {
  std::string text;
  for (const SaidFlag& flag : resumed.left_out) {
    text += flag.text;
  }
  return text;
}

TEST(Resume, NothingThatDecidesWritingComesFromTheFile) {
  TrainSettings stored;
  std::string flags;
  VisitSettings(stored, [&]<class T>(const auto& row, T& field) {  // each of them, whatever there will be
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
      if (row.DecidesWriting()) {
        if constexpr (std::is_same_v<T, bool>) {
          field = true;
          flags += " --" + std::string(row.name);
        } else {
          field = "/there/" + std::string(row.name);
          flags += " --" + std::string(row.name) + " /there/" + std::string(row.name);
        }
      }
    }
  });
  stored.epochs = 7;
  const ResumedSettings resumed = ResumedFrom(stored, "evil.ck");
  EXPECT_EQ(LeftOut(resumed), flags);
  EXPECT_NE(flags.find("--overwrite"), std::string::npos);
  EXPECT_NE(flags.find("--out-of-fold"), std::string::npos);
  TrainSettings expected;
  expected.epochs = 7;
  EXPECT_EQ(ToJson(resumed.settings), ToJson(expected));
  EXPECT_EQ(ResumeCommandLine(stored, "evil.ck"), "lamina train --resume evil.ck" + flags);
}

TEST(Resume, TheNameOfTheCheckpointSaysTheModel) {
  TrainSettings stored;
  stored.model = "m.safetensors";
  stored.history = "h.csv";
  ResumedSettings resumed = ResumedFrom(stored, "there/m.safetensors.checkpoint");
  EXPECT_EQ(resumed.settings.model, "there/m.safetensors") << "beside the checkpoint";
  EXPECT_EQ(LeftOut(resumed), " --history h.csv");
  stored.model = "/home/somebody/m.safetensors";
  EXPECT_EQ(ResumedFrom(stored, "m.safetensors.checkpoint").settings.model, "m.safetensors");
  EXPECT_EQ(ResumedFrom(stored, "other.checkpoint").settings.model, "");
  stored.model = "";
  EXPECT_EQ(ResumedFrom(stored, "m.safetensors.checkpoint").settings.model, "") << "there was none";
}

TEST(Resume, ANamedCheckpointGoesOnInItsOwnFile) {
  TrainSettings stored;
  stored.model = "m";
  stored.checkpoint = "/elsewhere/kept";
  const ResumedSettings resumed = ResumedFrom(stored, "here/kept");
  EXPECT_EQ(resumed.settings.checkpoint, "here/kept");
  EXPECT_EQ(LeftOut(resumed), " --model m");
  EXPECT_EQ(LeftOut(ResumedFrom(stored, "here/copy")), " --model m --checkpoint /elsewhere/kept");
  EXPECT_EQ(ResumeCommandLine(stored, "a b"), "lamina train --resume 'a b' --model m --checkpoint /elsewhere/kept");
}

}  // namespace
}  // namespace lamina
