// The wire format, and the messages of onnx.proto by their field numbers.
#include "lamina/model/onnx_graph.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "lamina/base/check.h"
#include "lamina/base/version.h"

namespace lamina {
namespace {

constexpr int kVarint = 0;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

uint64_t Tag(int field, int wire_type) { return static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(wire_type); }

static_assert(std::endian::native == std::endian::little, "raw_data and fixed fields are little-endian");

struct AttributeWriter {
  ProtoMessage& message;
  void operator()(int64_t value) const { Typed(2, 3, value); }
  void operator()(float value) const { Typed(1, 2, value); }
  void operator()(const std::string& value) const { Typed(3, 4, std::string_view(value)); }
  void operator()(const std::vector<int64_t>& values) const { List(7, 8, values); }
  void operator()(const std::vector<float>& values) const { List(6, 7, values); }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) {
      message.Add(9, std::string_view(value));
    }
    message.Add(20, int64_t{8});
  }
  template <class T>
  void Typed(int64_t type, int field, T value) const {
    message.Add(field, value);
    message.Add(20, type);
  }
  template <class T>
  void List(int64_t type, int field, const std::vector<T>& values) const {
    for (const T value : values) {
      message.Add(field, value);
    }
    message.Add(20, type);
  }
};

}  // namespace

void ProtoMessage::AddVarint(uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void ProtoMessage::Add(int field, int64_t value) {
  AddVarint(Tag(field, kVarint));
  AddVarint(static_cast<uint64_t>(value));
}

void ProtoMessage::Add(int field, float value) {
  AddVarint(Tag(field, kFixed32));
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  bytes_.append(bytes, sizeof value);
}

void ProtoMessage::Add(int field, std::string_view bytes) {
  AddVarint(Tag(field, kBytes));
  AddVarint(bytes.size());
  bytes_ += bytes;
}

OnnxType OnnxTypeOf(DType dtype) { return dtype == DType::kF64 ? OnnxType::kDouble : OnnxType::kFloat; }

std::string OnnxGraph::NewName(const std::string& what) { return fmt::format("lamina.{}.{}", ++names_, what); }

void OnnxGraph::Describe(int field, const std::string& name, OnnxType type, int64_t columns) {
  ProtoMessage rows;
  rows.Add(2, std::string_view("rows"));
  ProtoMessage shape;
  shape.Add(1, rows);
  if (columns > 0) {
    ProtoMessage width;
    width.Add(1, columns);
    shape.Add(1, width);
  }
  ProtoMessage tensor;
  tensor.Add(1, static_cast<int64_t>(type));
  tensor.Add(2, shape);
  ProtoMessage kind;
  kind.Add(1, tensor);
  ProtoMessage value;
  value.Add(1, std::string_view(name));
  value.Add(2, kind);
  graph_.Add(field, value);
}

std::string OnnxGraph::Node(const std::string& operation, const std::vector<std::string>& inputs,
                            const Attributes& attributes, const std::string& domain) {
  std::string output = NewName(operation);
  NamedNode(output, operation, inputs, attributes, domain);
  return output;
}

std::string OnnxGraph::FirstOf(int outputs, const std::string& operation, const std::vector<std::string>& inputs,
                               const Attributes& attributes) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(outputs));
  for (int i = 0; i < outputs; ++i) {
    names.push_back(NewName(operation));
  }
  AddNode(names, operation, inputs, attributes, {});
  return names.front();
}

void OnnxGraph::NamedNode(const std::string& output, const std::string& operation,
                          const std::vector<std::string>& inputs, const Attributes& attributes,
                          const std::string& domain) {
  AddNode({output}, operation, inputs, attributes, domain);
}

void OnnxGraph::AddNode(const std::vector<std::string>& outputs, const std::string& operation,
                        const std::vector<std::string>& inputs, const Attributes& attributes,
                        const std::string& domain) {
  ProtoMessage node;
  for (const std::string& input : inputs) {
    node.Add(1, std::string_view(input));
  }
  for (const std::string& output : outputs) {
    node.Add(2, std::string_view(output));
  }
  node.Add(3, std::string_view(outputs.front()));
  node.Add(4, std::string_view(operation));
  for (const auto& [name, value] : attributes) {
    ProtoMessage attribute;
    attribute.Add(1, std::string_view(name));
    std::visit(AttributeWriter{attribute}, value);
    node.Add(5, attribute);
  }
  if (!domain.empty()) {
    node.Add(7, std::string_view(domain));
  }
  graph_.Add(1, node);
}

std::string OnnxGraph::Constant(const std::string& name, OnnxType type, const std::vector<int64_t>& shape,
                                std::string_view bytes) {
  std::string unique = NewName(name);
  ProtoMessage tensor;
  for (const int64_t size : shape) {
    tensor.Add(1, size);
  }
  tensor.Add(2, static_cast<int64_t>(type));
  tensor.Add(8, std::string_view(unique));
  tensor.Add(9, bytes);
  graph_.Add(5, tensor);
  return unique;
}

std::string OnnxGraph::Scalar(DType dtype, double value) {
  return DispatchFloat(dtype, [&]<class T>(T) {
    const T element = static_cast<T>(value);
    return Constant("scalar", OnnxTypeOf(dtype), {}, {reinterpret_cast<const char*>(&element), sizeof element});
  });
}

std::string OnnxGraph::Vector(DType dtype, std::span<const double> values) {
  return DispatchFloat(dtype, [&]<class T>(T) {
    const std::vector<T> elements(values.begin(), values.end());
    return Constant("vector", OnnxTypeOf(dtype), {std::ssize(elements)},
                    {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)});
  });
}

std::string OnnxGraph::Vector(std::span<const int64_t> values) {
  return Constant("integers", OnnxType::kInt64, {std::ssize(values)},
                  {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

std::string OnnxGraph::Model(const std::string& name, const std::map<std::string, std::string>& metadata) const {
  ProtoMessage graph = graph_;
  graph.Add(2, std::string_view(name));
  ProtoMessage model;
  model.Add(1, kIrVersion);
  model.Add(2, std::string_view("lamina"));
  model.Add(3, std::string_view(Version()));
  model.Add(7, graph);
  for (const auto& [domain, version] : {std::pair("", kOpset), std::pair(kMlDomain, kMlOpset)}) {
    ProtoMessage opset;
    opset.Add(1, std::string_view(domain));
    opset.Add(2, version);
    model.Add(8, opset);
  }
  for (const auto& [key, value] : metadata) {
    ProtoMessage entry;
    entry.Add(1, std::string_view(key));
    entry.Add(2, std::string_view(value));
    model.Add(14, entry);
  }
  return model.bytes();
}

}  // namespace lamina
