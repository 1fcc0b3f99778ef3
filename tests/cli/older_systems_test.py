"""scripts/older_systems: what is linked with its stand-ins asks for nothing newer, and works."""

import os
import re
import shutil
import subprocess
import unittest

from lamina_cli import SOURCE, CliTest, main

COMPILER = shutil.which("g++")
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
# What the C and C++ libraries of those systems lack, or have in other versions: each is used once.
PROGRAM = r"""
#include <condition_variable>
#include <cstdlib>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>

struct Constructed { Constructed() { std::cout << "constructed\n"; } } constructed;

int main(int count, char** words) {
  std::mutex mutex;
  std::condition_variable told;
  bool ready = false;
  std::thread teller([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    told.notify_all();
  });
  std::unique_lock lock(mutex);
  told.wait(lock, [&] { return ready; });
  const auto begin = std::chrono::steady_clock::now();
  told.wait_for(lock, std::chrono::milliseconds(30), [] { return false; });
  std::cout << "waited " << (std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30)) << '\n';
  lock.unlock();
  teller.join();
  std::cout << "size " << std::filesystem::file_size(words[1]) << '\n';
  setenv("TOLD", "yes", 1);
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each) == "TOLD=yes") std::cout << "environment " << *each << '\n';
  }
  std::cout << "numbers " << std::exp(count * 0.5) << ' ' << std::hypot(count + 1.0, 4.0) << '\n';
  const auto shared = std::make_shared<int>(count);
  std::random_device device;
  const bool differ = device() != device() || device() != device();
  try {
    std::filesystem::file_size("/nothing/there");
  } catch (const std::filesystem::filesystem_error&) {
    std::cout << "caught " << *shared << differ << std::endl;
  }
}
"""


def glibc_is_newer():
    said = subprocess.run(["getconf", "GNU_LIBC_VERSION"], capture_output=True, text=True, check=False).stdout.split()
    return len(said) == 2 and tuple(map(int, said[1].split("."))) > NEWEST["GLIBC"]


@unittest.skipUnless(COMPILER and shutil.which("readelf"), "no g++ or readelf here")
@unittest.skipUnless(glibc_is_newer(), "this system's C library is as old, or another one")
class OlderSystemsTest(CliTest):
    def compile(self, *files):
        self.write("program.cc", PROGRAM)
        sources = [os.path.join(SOURCE, "python", "linux", name) for name in files]
        return subprocess.run([COMPILER, "-std=c++20", "-O1", "-L", self.path("stand-ins"), self.path("program.cc"), *sources,
                               "-o", self.path("program")], capture_output=True, text=True, check=False)

    def test_a_program(self):
        subprocess.run([os.path.join(SOURCE, "scripts", "older_systems"), COMPILER, self.path("stand-ins")], check=True)
        refused = self.compile()
        self.assertNotEqual(refused.returncode, 0, "what older systems lack slips in")
        self.assertIn("pthread_cond_clockwait", refused.stderr)
        done = self.compile("older_systems.cc", "older_start.cc")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = subprocess.run(["readelf", "--wide", "--version-info", self.path("program")], capture_output=True, text=True, check=True).stdout
        asked = re.findall(r"Name: ([A-Z]+)_([0-9.]+)", said)
        self.assertIn("GLIBC", [family for family, _ in asked])
        for family, version in asked:
            self.assertLessEqual(tuple(map(int, version.split("."))), NEWEST[family], f"{family}_{version}")
        self.write("five", "12345")
        ran = subprocess.run([self.path("program"), self.path("five")], capture_output=True, text=True, check=False)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout, "constructed\nwaited 1\nsize 5\nenvironment TOLD=yes\nnumbers 2.71828 5\ncaught 21\n")


if __name__ == "__main__":
    main()
