// Fetch against a server on the loopback: complete, resumed, refused, wrong and missing files.
#include "lamina/data/files/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <set>

#include "gtest/gtest.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/file_claim.h"
#include "lamina/base/part_file.h"
#include "lamina/base/random.h"
#include "lamina/base/sha256.h"
#include "lamina/base/text.h"
#include "tests/source_folder.h"
#include "tests/temporary_folder.h"

extern char** environ;

namespace lamina {
namespace {

class Server {
 public:
  Server(const std::string& folder, const std::string& log, const std::vector<std::string>& modes) {
    std::vector<std::string> command{"python3", SourceFolder() + "/tests/data/files/fetch_server.py", folder, log};
    command.insert(command.end(), modes.begin(), modes.end());
    std::vector<char*> arguments;
    for (std::string& each : command) {
      arguments.push_back(each.data());
    }
    arguments.push_back(nullptr);
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(pipe2(in.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    EXPECT_EQ(posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    std::string text;
    for (char c = 0; read(out[0], &c, 1) == 1 && c != '\n';) {
      text += c;
    }
    close(out[0]);
    url_ = fmt::format("http://127.0.0.1:{}/", text);
  }
  ~Server() {
    close(stdin_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  const std::string& url() const { return url_; }

 private:
  pid_t pid_ = -1;
  int stdin_ = -1;
  std::string url_;
};

class FetchTest : public testing::Test {
 protected:
  FetchTest() {
    setenv("no_proxy", "127.0.0.1", 1);
    Random random(7);
    for (const char* name : {"a.bin", "b.bin"}) {
      std::string content(300000, '\0');
      for (char& c : content) {
        c = static_cast<char>(random.Below(256));
      }
      WriteFileAtomically(origin_.Path(name), content);
      Sha256 sha;
      sha.Update(content);
      spec_.files.push_back({name, static_cast<int64_t>(content.size()), sha.HexDigest()});
    }
    spec_.name = "fake";
    options_.folder = target_.Path("new/folder");
    options_.connect_timeout_seconds = 5;
    options_.stall_timeout_seconds = 5;
  }

  void Serve(const std::vector<std::string>& modes) {
    server_ = std::make_unique<Server>(origin_.Path(), Log(), modes);
    options_.base_url = server_->url();
  }
  std::string Log() const { return logs_.Path("requests"); }
  std::string Target(const std::string& name) const { return options_.folder + "/" + name; }
  // Where a download of the file begins, and goes on.
  std::string Download(const std::string& name) const {
    const auto file =
        std::find_if(spec_.files.begin(), spec_.files.end(), [&](const auto& f) { return f.name == name; });
    return OwnName(Target(name), static_cast<uint32_t>(std::stoul(file->sha256.substr(0, 8), nullptr, 16)),
                   ".download");
  }
  void ExpectComplete() const {
    for (const FetchFile& file : spec_.files) {
      EXPECT_EQ(ReadFile(Target(file.name)), ReadFile(origin_.Path(file.name)));
      EXPECT_NE(access(Download(file.name).c_str(), F_OK), 0);
    }
  }
  // The error of a Fetch that must fail.
  Error Failure() const {
    try {
      Fetch(spec_, options_);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ErrorCode::kIo, "");
  }

  TemporaryFolder origin_;
  TemporaryFolder target_;
  TemporaryFolder logs_;
  FetchSpec spec_;
  FetchOptions options_;
  std::unique_ptr<Server> server_;
};

TEST_F(FetchTest, DownloadsOnceAndReportsProgress) {
  Serve({"range"});
  std::set<FetchProgress::State> seen;
  options_.progress = [&](const FetchProgress& progress) {
    seen.insert(progress.state);
    EXPECT_EQ(progress.file, &spec_.files[static_cast<size_t>(progress.index)]);
    EXPECT_LE(progress.done_bytes, progress.file->size_bytes);
  };
  const FetchResult first = Fetch(spec_, options_);
  EXPECT_EQ(first.downloaded_files, 2);
  EXPECT_EQ(first.paths, (std::vector<std::string>{Target("a.bin"), Target("b.bin")}));
  EXPECT_TRUE(seen.contains(FetchProgress::State::kDone));
  ExpectComplete();

  const std::string requests = ReadFile(Log());
  seen.clear();
  EXPECT_EQ(Fetch(spec_, options_).downloaded_files, 0);
  EXPECT_EQ(seen, (std::set{FetchProgress::State::kPresent}));
  EXPECT_EQ(ReadFile(Log()), requests) << "files that are there must not be asked for";
}

TEST_F(FetchTest, FileUrl) {
  options_.base_url = "file://" + origin_.Path();
  Fetch(spec_, options_);
  ExpectComplete();
}

TEST_F(FetchTest, APartHasOneWriter) {
  options_.base_url = "file://" + origin_.Path();
  std::filesystem::create_directories(options_.folder);
  const std::string begun = ReadFile(origin_.Path("a.bin")).substr(0, 1000);
  WriteFileAtomically(Target("a.bin.part"), begun);
  {
    const std::unique_ptr<FileClaim> other = FileClaim::Take(Target("a.bin"));
    const Error error = Failure();
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_EQ(error.context().file, Target("a.bin"));
    EXPECT_EQ(ReadFile(Target("a.bin.part")), begun);
  }
  Fetch(spec_, options_);
  ExpectComplete();
  EXPECT_NE(access(Target("a.bin.lamina-lock").c_str(), F_OK), 0);
}

TEST_F(FetchTest, ContinuesAPartFromAnEarlierRun) {
  Serve({"range"});
  std::filesystem::create_directories(options_.folder);
  WriteFileAtomically(Download("a.bin"), ReadFile(origin_.Path("a.bin")).substr(0, 123456));
  Fetch(spec_, options_);
  ExpectComplete();
  EXPECT_NE(ReadFile(Log()).find("/a.bin bytes=123456-"), std::string::npos) << ReadFile(Log());
}

TEST_F(FetchTest, ContinuesAfterACutConnection) {
  Serve({"range", "cut"});
  Fetch(spec_, options_);
  ExpectComplete();
  EXPECT_NE(ReadFile(Log()).find("/a.bin bytes=150000-"), std::string::npos) << ReadFile(Log());
}

TEST_F(FetchTest, StartsAgainWhereTheServerCannotContinue) {
  Serve({"norange", "cut"});
  Fetch(spec_, options_);
  ExpectComplete();
}

TEST_F(FetchTest, StartsAgainWhenTheOldPartWasWrong) {
  Serve({"range"});
  std::filesystem::create_directories(options_.folder);
  WriteFileAtomically(Download("a.bin"), std::string(1000, 'x'));
  WriteFileAtomically(Download("b.bin"), std::string(400000, 'x'));  // longer than the file
  Fetch(spec_, options_);
  ExpectComplete();
}

// Whatever it is: somebody's, or damaged.
TEST_F(FetchTest, ReplacesNoOtherFile) {
  Serve({"range"});
  std::filesystem::create_directories(options_.folder);
  const std::string other(300000, 'x');
  WriteFileAtomically(Target("b.bin"), other);
  WriteFileAtomically(Target("a.bin.part"), "somebody's");
  const Error error = Failure();
  EXPECT_EQ(error.context().file, Target("b.bin")) << error.what();
  EXPECT_EQ(ReadFile(Target("b.bin")), other);
  EXPECT_NE(access(Target("a.bin").c_str(), F_OK), 0) << "before anything is downloaded";
  std::filesystem::remove(Target("b.bin"));
  EXPECT_EQ(Fetch(spec_, options_).downloaded_files, 2);
  ExpectComplete();
  EXPECT_EQ(ReadFile(Target("a.bin.part")), "somebody's");
}

TEST_F(FetchTest, DownloadsThroughNoLink) {
  Serve({"range"});
  std::filesystem::create_directories(options_.folder);
  const std::string other = target_.Path("other");
  WriteFileAtomically(other, "somebody's");
  std::filesystem::create_symlink(other, Download("a.bin"));
  EXPECT_EQ(Failure().context().file, Download("a.bin"));
  EXPECT_EQ(ReadFile(other), "somebody's");
}

TEST_F(FetchTest, WrongChecksumNamesBothAndLeavesNothing) {
  Serve({"range"});
  const std::string found = spec_.files[1].sha256;
  spec_.files[1].sha256 = std::string(64, '0');
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kBadData);
  EXPECT_NE(error.message().find("expected SHA-256 " + std::string(64, '0')), std::string::npos) << error.what();
  EXPECT_NE(error.message().find("found " + found), std::string::npos) << error.what();
  EXPECT_NE(access(Target("b.bin").c_str(), F_OK), 0);
  EXPECT_NE(access(Download("b.bin").c_str(), F_OK), 0);
  EXPECT_EQ(access(Target("a.bin").c_str(), F_OK), 0) << "the good file stays";
}

TEST_F(FetchTest, EndlessAnswerIsCutOff) {
  Serve({"big"});
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kBadData) << error.what();
  EXPECT_NE(access(Download("a.bin").c_str(), F_OK), 0);
}

TEST_F(FetchTest, NotFoundSaysWhatToDoByHand) {
  Serve({"range"});
  std::filesystem::remove(origin_.Path("b.bin"));
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kNetwork);
  EXPECT_NE(error.message().find("404"), std::string::npos) << error.what();
  const std::string& remedy = error.context().remedy;
  EXPECT_NE(remedy.find(server_->url() + "b.bin"), std::string::npos) << remedy;
  EXPECT_NE(remedy.find(spec_.files[1].sha256), std::string::npos) << remedy;
  EXPECT_NE(remedy.find(options_.folder), std::string::npos) << remedy;
  EXPECT_EQ(remedy.find("a.bin"), std::string::npos) << "what is there need not be loaded by hand: " << remedy;
}

TEST_F(FetchTest, TriesTheNextMirror) {
  Serve({"range"});
  TemporaryFolder empty;
  spec_.base_urls = {"file://" + empty.Path(), server_->url()};
  options_.base_url.clear();
  Fetch(spec_, options_);
  ExpectComplete();
}

TEST_F(FetchTest, ConnectionRefused) {
  Serve({"range"});
  server_.reset();
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kNetwork);
  EXPECT_NE(error.message().find("connect"), std::string::npos) << error.what();
}

TEST_F(FetchTest, CurlMissing) {
  options_.base_url = "file://" + origin_.Path();
  const std::string path = getenv("PATH");
  setenv("PATH", target_.Path().c_str(), 1);
  const Error error = Failure();
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error.code(), ErrorCode::kNetwork);
  EXPECT_NE(error.message().find("curl is missing (apt-get install curl)"), std::string::npos) << error.what();
}

TEST_F(FetchTest, FolderThatCannotBeMade) {
  WriteFileAtomically(target_.Path("file"), "x");
  options_.folder = target_.Path("file/folder");
  EXPECT_EQ(Failure().code(), ErrorCode::kIo);
}

TEST_F(FetchTest, ThrowingProgressEndsTheChild) {
  Serve({"big"});
  options_.progress = [](const FetchProgress&) { throw Error(ErrorCode::kIo, "stop"); };
  EXPECT_EQ(Failure().message(), "stop");
  EXPECT_EQ(Fetch({}, options_).downloaded_files, 0);
}

TEST(FetchTable, NamesSizesAndChecksumsAreWellFormed) {
  for (const FetchSpec& spec : FetchTable()) {
    EXPECT_EQ(&FindFetchSpec(spec.name), &spec);
    EXPECT_FALSE(spec.base_urls.empty());
    for (const std::string& url : spec.base_urls) {
      EXPECT_TRUE(url.ends_with('/')) << url;
    }
    for (const FetchFile& file : spec.files) {
      EXPECT_GT(file.size_bytes, 0);
      EXPECT_EQ(file.sha256.size(), 64U);
      EXPECT_EQ(file.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
    }
  }
  try {
    FindFetchSpec("mnits");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error.context().remedy.find("'mnist'"), std::string::npos);
  }
}

// Where the published files are at hand, the table must describe them.
TEST(FetchTable, MatchesTheRealFiles) {
  const char* folder = getenv("LAMINA_DATA");
  if (folder == nullptr) {
    GTEST_SKIP() << "LAMINA_DATA is not set";
  }
  for (const FetchSpec& spec : FetchTable()) {
    for (const FetchFile& file : spec.files) {
      const std::string path = fmt::format("{}/{}/{}", folder, spec.name, file.name);
      EXPECT_EQ(Sha256OfFile(path), file.sha256) << path;
      EXPECT_EQ(static_cast<int64_t>(std::filesystem::file_size(path)), file.size_bytes) << path;
    }
  }
}

}  // namespace
}  // namespace lamina
