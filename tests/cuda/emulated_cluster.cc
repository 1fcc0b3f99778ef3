// What kernels for compute capability 9.0 ask of the GPU: barriers of shared memory, clusters of blocks, copies by the
// hardware. Groups of warps give each other registers.
#include "tests/cuda/emulated_block.h"  // first, as emulated_fiber.h says

#include "lamina/backend/cuda/tensor_map.h"

namespace lamina::emulator {
namespace {

Block& TheBlock() { return Block::Running(); }

[[noreturn]] void FailHere(const std::string& what) { Fail(std::string("kernel ") + TheBlock().name() + ": " + what); }

Block& BlockOf(unsigned rank) {
  const std::vector<Block*>& cluster = TheBlock().cluster();
  if (rank >= cluster.size()) {
    FailHere("a block that its cluster does not have");
  }
  return *cluster[rank];
}

Without left_out = Without::kNothing;

// A part of a matrix, as it stands in shared memory from `offset` on.
void Bring(const Part& part, int64_t offset, Block& block) {
  const int row_bytes = part.part_cols * part.number_bytes;
  for (int r = 0; r < part.part_rows; ++r) {
    for (int c = 0; c < part.part_cols; ++c) {
      const int64_t row = part.row + r;
      const int64_t col = part.col + c;
      const int plain = r * row_bytes + c * part.number_bytes;
      const int64_t at = offset + (plain ^ plain / 128 % 8 * 16);
      for (void* memory : {block.shared(), block.seen()}) {
        std::byte* const to = static_cast<std::byte*>(memory) + at;
        if (row < part.rows && col < part.cols) {
          std::memcpy(to, part.data + (row * part.stride + col) * part.number_bytes,
                      static_cast<size_t>(part.number_bytes));
        } else {
          std::memset(to, 0, static_cast<size_t>(part.number_bytes));
        }
      }
    }
  }
}

}  // namespace

void DoWithout(Without what) { left_out = what; }
Without LeftOut() { return left_out; }

void InitBarrier(void* barrier, int arrivals) {
  Block& block = TheBlock();
  const auto number = static_cast<int>(block.barriers().size());
  RequireAligned(barrier, sizeof(uint64_t));
  block.barriers()[block.OffsetOf(barrier)] = {
      .arrivals = arrivals, .pending = arrivals, .bytes = 0, .ended = 0, .number = number};
}

void Arrive(void* barrier, unsigned rank) {
  const int64_t offset = TheBlock().OffsetOf(barrier);
  Block& block = BlockOf(rank);
  PhaseBarrier& there = block.BarrierAt(offset);
  --there.pending;
  if (&block != &TheBlock()) {
    block.UsedUntil(TheBlock().current().at_cluster + 1);
  }
  block.Look(there);
}

void ArriveExpecting(void* barrier, int size_bytes) {
  PhaseBarrier& own = TheBlock().BarrierAt(TheBlock().OffsetOf(barrier));
  own.bytes += size_bytes;
  --own.pending;
  TheBlock().Look(own);
}

void WaitForPhase(void* barrier, unsigned parity) {
  const PhaseBarrier& own = TheBlock().BarrierAt(TheBlock().OffsetOf(barrier));
  const int stages = static_cast<int>(TheBlock().barriers().size()) / 2 - 1;
  const Without kind = own.number < stages       ? Without::kFullWaits
                       : own.number < stages + 2 ? Without::kTurns
                                                 : Without::kEmptyWaits;
  if (left_out == kind) {
    return;
  }
  while (own.ended % 2 == parity) {
    TheBlock().Yield();
  }
}

unsigned ClusterRank() { return TheBlock().rank(); }

void WaitForCluster() {
  const int own = TheBlock().current().at_cluster + 1;
  if (own > 1 && left_out == Without::kLastMeeting) {
    return;
  }
  TheBlock().current().at_cluster = own;
  if (own == 1 && left_out == Without::kFirstMeeting) {
    return;
  }
  const auto all_came = [&] {
    for (Block* const block : TheBlock().cluster()) {
      if (!block->CameToCluster(own)) {
        return false;
      }
    }
    return true;
  };
  while (!all_came()) {
    TheBlock().Yield();
  }
}

void CopyPart(void* to, const Part& part, void* barrier, unsigned ranks) {
  Block& own = TheBlock();
  const int64_t offset = own.OffsetOf(to);
  const int64_t size_bytes = int64_t{part.part_rows} * part.part_cols * part.number_bytes;
  if ((SharedAddress(to) % 1024) != 0 || offset + size_bytes > own.shared_bytes()) {
    FailHere("a part of a matrix that may not stand there");
  }
  const int64_t barrier_at = own.OffsetOf(barrier);
  const bool at_once = own.copies() % 2 == 0;
  for (unsigned rank = 0; rank < own.cluster().size(); ++rank) {
    if ((ranks >> rank & 1U) == 0) {
      continue;
    }
    Block& block = BlockOf(rank);
    const auto bring = [=, &block] { Bring(part, offset, block); };
    block.BarrierAt(barrier_at);
    if (&block != &own) {
      block.UsedUntil(own.current().at_cluster + 1);
    }
    if (at_once) {
      bring();
    }
    own.AddLater([=, &block] {
      PhaseBarrier& there = block.BarrierAt(barrier_at);
      if (!at_once) {
        bring();
      }
      there.bytes -= size_bytes;
      ++Block::progress;
      block.Look(there);
    });
  }
}

void GiveRegisters(int count) {
  Fiber& fiber = TheBlock().current();
  if (count > fiber.registers) {
    FailHere("registers given that it has not");
  }
  fiber.registers = count;
}

void TakeRegisters(int count) {
  Block& block = TheBlock();
  Fiber& fiber = block.current();
  if (count < fiber.registers) {
    FailHere("registers taken that it has already");
  }
  const int all = Block::kRegistersOfMultiprocessor / block.threads() / 8 * 8 * block.threads();
  while (block.RegistersOfAll() - fiber.registers + count > all) {
    block.Yield();
  }
  block.current().registers = count;
}

}  // namespace lamina::emulator

namespace lamina::cuda_emulated {

static_assert(sizeof(PartsOf2D) <= sizeof(TensorMap));

// CUDA Driver API, "cuTensorMapEncodeTiled": what it would refuse.
TensorMap MapOf(Device& device, const PartsOf2D& parts) noexcept {
  TensorMap map{};
  if (reinterpret_cast<uintptr_t>(parts.data) % 16 != 0 || parts.stride * 2 % 16 != 0 || parts.rows < 1 ||
      parts.cols < 1 || parts.part_rows < 1 || parts.part_rows > 256) {
    device.KeepError("a map of a matrix that the hardware does not copy");
  }
  std::memcpy(&map, &parts, sizeof(parts));
  return map;
}

emulator::Part FromMap(const TensorMap& map, int32_t row, int32_t col) {
  PartsOf2D parts;
  std::memcpy(static_cast<void*>(&parts), &map, sizeof(parts));
  constexpr int kHalf_bytes = 2;
  return {static_cast<const std::byte*>(parts.data),
          parts.rows,
          parts.cols,
          parts.stride,
          row,
          col,
          parts.part_rows,
          kPartRow_bytes / kHalf_bytes,
          kHalf_bytes};
}

}  // namespace lamina::cuda_emulated
