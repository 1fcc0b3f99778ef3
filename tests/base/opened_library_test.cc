// Functions of libraries that are there, and of one that is not.
#include "lamina/base/opened_library.h"

#include <gtest/gtest.h>

namespace lamina {
namespace {

TEST(OpenedLibraryTest, FindsFunctions) {
  OpenedLibrary library("libm.so.6");
  double (*cosine)(double) = nullptr;
  library.Find(cosine, "cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library.reason(), "");
}

TEST(OpenedLibraryTest, SaysWhatIsNotThere) {
  OpenedLibrary library("libm.so.6");
  void (*none)() = [] {};
  library.FindIfThere(none, "lamina_no_such_function");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(library.reason(), "");
  library.Find(none, "lamina_no_such_function");
  EXPECT_EQ(library.reason(), "libm.so.6 has no function lamina_no_such_function");

  OpenedLibrary missing("liblamina-no-such-library.so.1");
  missing.Find(none, "cos");
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(missing.reason(),
            "liblamina-no-such-library.so.1 cannot be opened: cannot open shared object file: No such file or "
            "directory");
}

}  // namespace
}  // namespace lamina
