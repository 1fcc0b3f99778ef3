// One .npy file that several processes write, each some of its rows. Private to FileLayer.
#pragma once

#include <cstdint>
#include <string>

#include "lamina/base/matrix_view.h"
#include "lamina/cluster/communicator.h"

namespace lamina {

/// The output of a layer over ranks. The first rank makes a part of OUT (CreatePart), each writes its rows there, and
/// it becomes OUT when all have. A rank's rows stay in memory until they are written. Network file systems, where ranks
/// would overwrite one another's pages, so serve as well.
class SharedOutput {
 public:
  /// Collective. Rows [begin, begin + rows) of all × cols are this rank's. Throws Error(kIo), also where the disk has
  /// no room for the whole file.
  SharedOutput(const std::string& path, int64_t all, int64_t begin, int64_t rows, int64_t cols, DType dtype,
               Communicator& ranks);
  /// Removes what is not committed.
  ~SharedOutput();
  SharedOutput(const SharedOutput&) = delete;
  SharedOutput& operator=(const SharedOutput&) = delete;

  /// This rank's rows, to be written into.
  MatrixView view() const { return view_; }
  /// Columns [col, col + cols) of some of this rank's rows are complete, and go to the file. Throws Error(kIo).
  void Write(int64_t begin, int64_t rows, int64_t col, int64_t cols) const;
  /// What was written of those rows leaves the memory. Nobody writes into them meanwhile.
  void Release(int64_t begin, int64_t rows) const noexcept;
  /// Collective, after all ranks have written all.
  void Commit();

 private:
  std::string path_;
  std::string part_;  // on all ranks, from the first one
  Communicator& ranks_;
  int64_t offset_;  // of this rank's first row in the file
  int descriptor_ = -1;
  void* memory_ = nullptr;
  int64_t memory_bytes_;
  MatrixView view_;
};

}  // namespace lamina
