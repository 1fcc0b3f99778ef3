// SHA-256 against the examples of FIPS 180-4 and of the NIST test vectors.
#include "lamina/base/sha256.h"

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "tests/temporary_folder.h"

namespace lamina {
namespace {

std::string Digest(std::string_view text) {
  Sha256 sha;
  sha.Update(text);
  return sha.HexDigest();
}

TEST(Sha256, PublishedExamples) {
  EXPECT_EQ(Digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Digest("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
                   "mnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Digest(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, AnySplitOfTheMessageGivesTheSame) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += static_cast<char>(i);
  }
  for (size_t length = 0; length <= text.size(); ++length) {
    const std::string_view message = std::string_view(text).substr(0, length);
    const std::string whole = Digest(message);
    Sha256 sha;
    sha.Update(message.substr(0, length / 3));
    for (const char c : message.substr(length / 3)) {
      sha.Update(&c, 1);
    }
    EXPECT_EQ(sha.HexDigest(), whole) << length;
  }
}

TEST(Sha256, OfFile) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.Path("f"), "abc");
  EXPECT_EQ(Sha256OfFile(folder.Path("f")), Digest("abc"));
  try {
    Sha256OfFile(folder.Path("none"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  }
  EXPECT_THROW(Sha256OfFile(folder.Path()), Error);
}

}  // namespace
}  // namespace lamina
