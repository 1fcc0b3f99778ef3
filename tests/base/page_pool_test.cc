// Pieces are apart from each other and zero whatever lay there before.
#include "lamina/base/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "lamina/base/random.h"

namespace lamina {
namespace {

constexpr int64_t kLeast_bytes = 16 << 10;

struct Piece {
  unsigned char* data;
  int64_t size_bytes;
  unsigned char mark;
};

bool IsAll(const Piece& piece, unsigned char value) {
  return std::all_of(piece.data, piece.data + piece.size_bytes, [&](unsigned char byte) { return byte == value; });
}

// Takes and gives pieces in a random order; false where one is not zero or somebody else wrote to it.
bool TakeAndGive(uint64_t seed, int64_t largest_bytes, int rounds) {
  Random random(seed, 0);
  std::vector<Piece> pieces;
  bool right = true;
  const auto give = [&](size_t index) {
    right = right && IsAll(pieces[index], pieces[index].mark);
    FreePages(pieces[index].data, pieces[index].size_bytes);
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(index));
  };
  for (int round = 0; round < rounds; ++round) {
    if (pieces.size() > 12 || (!pieces.empty() && random.Below(3) == 0)) {
      give(random.Below(pieces.size()));
      continue;
    }
    const auto size = static_cast<int64_t>(kLeast_bytes + random.Below(static_cast<uint64_t>(largest_bytes)));
    const Piece piece{static_cast<unsigned char*>(AllocatePages(size)), size, static_cast<unsigned char>(round % 251)};
    right = right && piece.data != nullptr && reinterpret_cast<uintptr_t>(piece.data) % 64 == 0 && IsAll(piece, 0);
    if (piece.data == nullptr) {
      return false;
    }
    std::memset(piece.data, piece.mark, static_cast<size_t>(size));
    pieces.push_back(piece);
  }
  while (!pieces.empty()) {
    give(0);
  }
  return right;
}

TEST(PagePool, PiecesAreZeroAndApart) {
  EXPECT_TRUE(TakeAndGive(1, 1 << 20, 400));
  EXPECT_TRUE(TakeAndGive(2, 100 << 10, 1000));
}

// More than a region holds, and what has a mapping of its own.
TEST(PagePool, LargePiecesToo) { EXPECT_TRUE(TakeAndGive(3, 24 << 20, 40)); }

TEST(PagePool, ThreadsShareIt) {
  constexpr int kThreads = 4;
  std::vector<char> right(kThreads, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back(
        [&, t] { right[static_cast<size_t>(t)] = TakeAndGive(10 + static_cast<uint64_t>(t), 300 << 10, 200); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::count(right.begin(), right.end(), 1), kThreads);
}

TEST(PagePool, WhatCannotBeIsNull) { EXPECT_EQ(AllocatePages(int64_t{1} << 60), nullptr); }

}  // namespace
}  // namespace lamina
