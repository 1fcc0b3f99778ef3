// Folders of pictures and reports: what the program wrote is replaced, nothing else.
#include "lamina/base/output_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lamina/base/file_set.h"
#include "tests/caught_error.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

const std::vector<std::string>& TwoNames() {
  static const std::vector<std::string> names{"a.svg", "b.csv"};
  return names;
}

void Claim(const std::string& folder, const std::vector<std::string>& names) {
  FileSet files;
  ClaimNames(folder, names, files);
  files.Commit();
}

TEST(OutputFolder, ItsOwnNamesMayBeClaimedAgain) {
  const TemporaryFolder folder;
  const std::string out = folder.Path("new/out");
  RequireOutputFolder(out, TwoNames());
  Claim(out, TwoNames());
  folder.Write("new/out/a.svg", "first");
  folder.Write("new/out/c.txt", "mine");
  RequireOutputFolder(out, TwoNames());
  Claim(out, TwoNames());
  const std::vector<std::string> more{"d.png"};
  Claim(out, more);
  folder.Write("new/out/d.png", "drawn");
  Claim(out, TwoNames());
  Claim(out, more);
  EXPECT_EQ(ReadFile(out + "/.lamina-files"), "lamina output 1\na.svg\nb.csv\nd.png\n");
  EXPECT_EQ(ReadFile(out + "/c.txt"), "mine");
}

TEST(OutputFolder, AnotherFileOfTheNameIsNamed) {
  for (const char* kind : {"file", "folder", "link", "link to nothing"}) {
    const TemporaryFolder folder;
    const std::string path = folder.Path("b.csv");
    const std::string other = folder.Write("other", "mine");
    if (kind == std::string("file")) {
      folder.Write("b.csv", "mine");
    } else if (kind == std::string("folder")) {
      std::filesystem::create_directory(path);
    } else {
      std::filesystem::create_symlink(kind == std::string("link") ? other : folder.Path("absent"), path);
    }
    EXPECT_EQ(CaughtError([&] { RequireOutputFolder(folder.Path(), TwoNames()); }).context().file, path) << kind;
    EXPECT_EQ(CaughtError([&] { Claim(folder.Path(), TwoNames()); }).context().file, path) << kind;
    EXPECT_EQ(ReadFile(other), "mine");
    EXPECT_EQ(folder.Count(), 2) << kind;
  }
}

TEST(OutputFolder, ALinkInThePlaceOfItsOwnFileIsNotFollowed) {
  const TemporaryFolder folder;
  Claim(folder.Path(), TwoNames());
  std::filesystem::create_symlink(folder.Write("other", "mine"), folder.Path("a.svg"));
  EXPECT_EQ(CaughtError([&] { Claim(folder.Path(), TwoNames()); }).context().file, folder.Path("a.svg"));
}

TEST(OutputFolder, AListOfSomebodyElsesIsNone) {
  const TemporaryFolder folder;
  const std::string list = folder.Write(".lamina-files", "a.svg\nb.csv\n");
  EXPECT_EQ(CaughtError([&] { Claim(folder.Path(), TwoNames()); }).context().file, list);
  EXPECT_EQ(ReadFile(list), "a.svg\nb.csv\n");
}

}  // namespace
}  // namespace lamina
