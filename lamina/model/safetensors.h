// Reading and writing the safetensors format: an 8-byte header length, a JSON header, raw little-endian tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

struct TensorView {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string_view bytes;
  int64_t element_count() const;
};

/// A parsed file. Nothing is executed and nothing is trusted: reading checks every length, offset and shape. It also
/// checks the checksum of metadata and tensors (metadata "crc32"); all files that lamina writes have one.
class SafetensorsFile {
 public:
  SafetensorsFile() = default;
  SafetensorsFile(SafetensorsFile&&) = default;
  SafetensorsFile& operator=(SafetensorsFile&&) = default;
  SafetensorsFile(const SafetensorsFile&) = delete;  // the tensors view content_
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  /// Throws Error(kNotFound | kIo | kBadModel) naming the file and what is wrong.
  static SafetensorsFile Read(const std::string& path);
  static SafetensorsFile Parse(std::string content, const std::string& source);
  /// The metadata alone, of a file whose tensors may be cut off; no checksum is looked at. Throws as Read().
  static std::map<std::string, std::string> MetadataOf(const std::string& path);

  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  /// Throws Error(kBadModel) where the tensor is missing or not of this type and shape.
  const TensorView& Require(const std::string& name, DType dtype, const std::vector<int64_t>& shape) const;

 private:
  std::string source_;
  std::string content_;
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorView> tensors_;
};

/// Writes all or nothing (AtomicFile).
void WriteSafetensors(const std::string& path, const std::map<std::string, std::string>& metadata,
                      const std::map<std::string, TensorView>& tensors);

}  // namespace lamina
