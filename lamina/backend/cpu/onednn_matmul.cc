// The only file that knows oneDNN, API 2.x (Debian 12) and 3.x.
#include "lamina/backend/cpu/onednn_matmul.h"

#include <fmt/format.h>

#include "lamina/backend/cpu/cpu_backend.h"

#ifdef LAMINA_HAVE_ONEDNN
#include <array>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#endif

namespace lamina {

#ifndef LAMINA_HAVE_ONEDNN

std::string OnednnDescription() { return ""; }

namespace cpu {

class OnednnMatmul::Impl {};
OnednnMatmul::OnednnMatmul() = default;
OnednnMatmul::~OnednnMatmul() = default;
bool OnednnMatmul::Run(const DnnMatrix&, const DnnMatrix&, const void*, const Activation*, const MatrixView&) noexcept {
  return false;
}
bool OnednnMatmul::Fuses(const Activation&) { return false; }
bool OnednnMatmul::Available() { return false; }
void OnednnMatmul::KeepTo(std::string_view) {}

}  // namespace cpu

#else

std::string OnednnDescription() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
}

namespace cpu {
namespace {

using dnnl::algorithm;
using dnnl::memory;

struct Eltwise {
  algorithm kind;
  float alpha;
};

// The post-operation for an activation; kind is undef where there is none. Not relu: oneDNN's makes 0 of a
// NaN.
Eltwise EltwiseFor(const Activation& activation) {
  const std::string& name = activation.name();
  if (activation.kind() < 0) {
    return {algorithm::undef, 0};
  }
  if (name == formulas::Sigmoid::kName) {
    return {algorithm::eltwise_logistic, 0};
  }
  if (name == formulas::HyperbolicTangent::kName) {
    return {algorithm::eltwise_tanh, 0};
  }
  if (name == formulas::LeakyRelu::kName) {
    return {algorithm::eltwise_relu, static_cast<float>(activation.parameters()[0])};
  }
  if (name == formulas::Gelu::kName) {
    return {algorithm::eltwise_gelu_tanh, 0};
  }
  return {algorithm::undef, 0};
}

bool IsIdentity(const Activation& activation) {
  return activation.kind() >= 0 && activation.name() == formulas::Identity::kName;
}

memory::desc Describe(const DnnMatrix& m) {
  return {{m.rows, m.cols}, memory::data_type::f32, memory::dims{m.row_stride, m.col_stride}};
}

// Everything a primitive depends on.
using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool>;

}  // namespace

class OnednnMatmul::Impl {
 public:
  struct Entry {
    memory a, b, bias, to;
    dnnl::matmul primitive;
    std::unordered_map<int, memory> arguments;
  };

  Entry& For(const DnnMatrix& a, const DnnMatrix& b, bool bias, const Activation* activation, const MatrixView& to) {
    const Key key{a.rows,       a.cols,       b.cols,    a.row_stride, a.col_stride,
                  b.row_stride, b.col_stride, to.stride, bias,         activation != nullptr};
    if (const auto found = entries_.find(key); found != entries_.end()) {
      return found->second;
    }
    return entries_.emplace(key, Make(a, b, bias, activation, to)).first->second;
  }

  dnnl::stream& stream() { return stream_; }

 private:
  Entry Make(const DnnMatrix& a, const DnnMatrix& b, bool bias, const Activation* activation, const MatrixView& to) {
    dnnl::primitive_attr attributes;
    if (activation != nullptr && !IsIdentity(*activation)) {
      const Eltwise eltwise = EltwiseFor(*activation);
      dnnl::post_ops operations;
#if DNNL_VERSION_MAJOR >= 3
      operations.append_eltwise(eltwise.kind, eltwise.alpha, 0.0F);
#else
      operations.append_eltwise(1.0F, eltwise.kind, eltwise.alpha, 0.0F);
#endif
      attributes.set_post_ops(operations);
    }
    const memory::desc a_desc = Describe(a);
    const memory::desc b_desc = Describe(b);
    const memory::desc to_desc({to.rows, to.cols}, memory::data_type::f32, memory::dims{to.stride, 1});
    const memory::desc bias_desc =
        bias ? memory::desc({1, to.cols}, memory::data_type::f32, memory::dims{to.cols, 1}) : memory::desc();
#if DNNL_VERSION_MAJOR >= 3
    const dnnl::matmul::primitive_desc plan(engine_, a_desc, b_desc, bias_desc, to_desc, attributes);
#else
    const dnnl::matmul::desc operation =
        bias ? dnnl::matmul::desc(a_desc, b_desc, bias_desc, to_desc) : dnnl::matmul::desc(a_desc, b_desc, to_desc);
    const dnnl::matmul::primitive_desc plan(operation, attributes, engine_);
#endif
    Entry entry{memory(a_desc, engine_, DNNL_MEMORY_NONE),
                memory(b_desc, engine_, DNNL_MEMORY_NONE),
                bias ? memory(bias_desc, engine_, DNNL_MEMORY_NONE) : memory(),
                memory(to_desc, engine_, DNNL_MEMORY_NONE),
                dnnl::matmul(plan),
                {}};
    entry.arguments = {{DNNL_ARG_SRC, entry.a}, {DNNL_ARG_WEIGHTS, entry.b}, {DNNL_ARG_DST, entry.to}};
    if (bias) {
      entry.arguments.emplace(DNNL_ARG_BIAS, entry.bias);
    }
    return entry;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<Key, Entry> entries_;
};

OnednnMatmul::OnednnMatmul() : impl_(std::make_unique<Impl>()) {}
OnednnMatmul::~OnednnMatmul() = default;

bool OnednnMatmul::Run(const DnnMatrix& a, const DnnMatrix& b, const void* bias, const Activation* activation,
                       const MatrixView& to) noexcept {
  if (a.rows == 0 || a.cols == 0 || b.cols == 0) {
    return false;
  }
  try {
    Impl::Entry& entry = impl_->For(a, b, bias != nullptr, activation, to);
    entry.a.set_data_handle(const_cast<void*>(a.data));
    entry.b.set_data_handle(const_cast<void*>(b.data));
    entry.to.set_data_handle(to.data);
    if (bias != nullptr) {
      entry.bias.set_data_handle(const_cast<void*>(bias));
    }
    entry.primitive.execute(impl_->stream(), entry.arguments);
    impl_->stream().wait();
    return true;
  } catch (const dnnl::error&) {
    return false;
  }
}

bool OnednnMatmul::Fuses(const Activation& activation) {
  return IsIdentity(activation) || EltwiseFor(activation).kind != algorithm::undef;
}

bool OnednnMatmul::Available() { return true; }

void OnednnMatmul::KeepTo(std::string_view level) {
  constexpr std::array<std::pair<std::string_view, dnnl::cpu_isa>, 5> kMost{{
      {"scalar", dnnl::cpu_isa::sse41},
      {"avx2", dnnl::cpu_isa::avx2},
      {"avx512", dnnl::cpu_isa::avx512_core},
      {"avx512_vnni", dnnl::cpu_isa::avx512_core_vnni},
      {"avx512_bf16", dnnl::cpu_isa::avx512_core_bf16},
  }};
  for (const auto& [name, most] : kMost) {
    if (name == level) {
      dnnl::set_max_cpu_isa(most);
    }
  }
}

}  // namespace cpu

#endif

}  // namespace lamina
