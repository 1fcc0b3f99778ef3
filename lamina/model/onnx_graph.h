// Writing ONNX files: the few parts of the protobuf wire format and of onnx.proto that a network needs
// (docs/decisions/0008-onnx-by-hand.md). Field numbers are those of onnx.proto, which never change.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lamina/base/matrix_view.h"

namespace lamina {

/// A protobuf message under construction.
class ProtoMessage {
 public:
  void Add(int field, int64_t value);
  void Add(int field, float value);
  void Add(int field, std::string_view bytes);
  void Add(int field, const ProtoMessage& message) { Add(field, std::string_view(message.bytes_)); }
  const std::string& bytes() const { return bytes_; }

 private:
  void AddVarint(uint64_t value);
  std::string bytes_;
};

/// Element types, numbered as in TensorProto.DataType.
enum class OnnxType {
  kFloat = 1,
  kInt8 = 3,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kBFloat16 = 16
};

OnnxType OnnxTypeOf(DType dtype);  // of f32 and f64

/// A graph under construction. Values are known by name; every call that makes one returns its name.
class OnnxGraph {
 public:
  using Attribute =
      std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>, std::vector<std::string>>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  /// Opsets that readers from 2021 on know (ONNX 1.8).
  static constexpr int64_t kIrVersion = 7;
  static constexpr int64_t kOpset = 13;
  static constexpr int64_t kMlOpset = 2;
  static constexpr const char* kMlDomain = "ai.onnx.ml";

  /// rows × `columns`, or with `columns` 0 a vector of rows.
  void AddInput(const std::string& name, OnnxType type, int64_t columns) { Describe(11, name, type, columns); }
  void AddOutput(const std::string& name, OnnxType type, int64_t columns) { Describe(12, name, type, columns); }

  std::string Node(const std::string& operation, const std::vector<std::string>& inputs,
                   const Attributes& attributes = {}, const std::string& domain = {});
  /// The first output of an operator that has so many.
  std::string FirstOf(int outputs, const std::string& operation, const std::vector<std::string>& inputs,
                      const Attributes& attributes = {});
  /// The last node of a chain: its value gets this name.
  void NamedNode(const std::string& output, const std::string& operation, const std::vector<std::string>& inputs,
                 const Attributes& attributes = {}, const std::string& domain = {});

  /// Constants, of any type but strings; `shape` {} is a scalar.
  std::string Constant(const std::string& name, OnnxType type, const std::vector<int64_t>& shape,
                       std::string_view bytes);
  std::string Scalar(DType dtype, double value);
  std::string Vector(DType dtype, std::span<const double> values);
  std::string Vector(std::span<const int64_t> values);

  /// The whole file.
  std::string Model(const std::string& name, const std::map<std::string, std::string>& metadata) const;

 private:
  void AddNode(const std::vector<std::string>& outputs, const std::string& operation,
               const std::vector<std::string>& inputs, const Attributes& attributes, const std::string& domain);
  void Describe(int field, const std::string& name, OnnxType type, int64_t columns);
  std::string NewName(const std::string& what);

  ProtoMessage graph_;
  int64_t names_ = 0;
};

}  // namespace lamina
