// SHA-256 after FIPS 180-4, section 6.2. A few hundred MB/s, plenty for data sets of some tens of megabytes.
#include "lamina/base/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <vector>

#include "lamina/base/error.h"
#include "lamina/base/stop.h"
#include "lamina/platform/file.h"

namespace lamina {
namespace {

constexpr std::array<uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void Sha256::Block(const uint8_t* block) {
  std::array<uint32_t, 64> w{};
  for (size_t i = 0; i < 16; ++i) {
    w[i] = uint32_t{block[4 * i]} << 24 | uint32_t{block[4 * i + 1]} << 16 | uint32_t{block[4 * i + 2]} << 8 |
           uint32_t{block[4 * i + 3]};
  }
  for (size_t i = 16; i < 64; ++i) {
    const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (size_t i = 0; i < 64; ++i) {
    const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
    const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> sum{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) {
    state_[i] += sum[i];
  }
}

void Sha256::Update(const void* data, size_t size_bytes) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  total_bytes_ += size_bytes;
  while (size_bytes > 0) {
    if (pending_bytes_ == 0 && size_bytes >= pending_.size()) {
      Block(bytes);
      bytes += pending_.size();
      size_bytes -= pending_.size();
      continue;
    }
    const size_t part = std::min(size_bytes, pending_.size() - pending_bytes_);
    std::memcpy(pending_.data() + pending_bytes_, bytes, part);
    pending_bytes_ += part;
    bytes += part;
    size_bytes -= part;
    if (pending_bytes_ == pending_.size()) {
      Block(pending_.data());
      pending_bytes_ = 0;
    }
  }
}

std::string Sha256::HexDigest() {
  const uint64_t bits = total_bytes_ * 8;
  std::array<uint8_t, 72> tail{0x80};
  const size_t zeros_end = (pending_bytes_ < 56 ? 56 : 120) - pending_bytes_;
  for (size_t i = 0; i < 8; ++i) {
    tail[zeros_end + i] = static_cast<uint8_t>(bits >> (56 - 8 * i));
  }
  Update(tail.data(), zeros_end + 8);
  std::string text;
  for (const uint32_t word : state_) {
    text += fmt::format("{:08x}", word);
  }
  return text;
}

std::string Sha256OfFile(const std::string& path) {
  const auto fail = [&path](const char* doing) {
    const int error = errno;
    throw Error(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                fmt::format("cannot {}: {}", doing, platform::ReasonOf(error)), {.file = path});
  };
  const int descriptor = platform::Open(path.c_str(), platform::OpenFor::kReading);
  if (descriptor < 0) {
    fail("open");
  }
  Sha256 sha;
  std::vector<char> piece(size_t{1} << 18);
  while (true) {
    const ptrdiff_t n = platform::Read(descriptor, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      const int error = errno;
      platform::Close(descriptor);
      errno = error;
      if (n < 0) {
        fail("read");
      }
      return sha.HexDigest();
    }
    sha.Update(piece.data(), static_cast<size_t>(n));
    if (StopRequested()) {
      platform::Close(descriptor);
      StopPoint();
    }
  }
}

}  // namespace lamina
