// Backend "serial": the plain loops over the whole batch on the calling thread.
#include "lamina/backend/serial/serial_backend.h"

#include "lamina/backend/host_backend.h"
#include "lamina/backend/requirements.h"
#include "lamina/backend/serial/plain_loops.h"

namespace lamina {
namespace {

class SerialLayer final : public PreparedLayer {
 public:
  explicit SerialLayer(const LayerPlanRequest& request) : request_(request) {}

  void Forward(const ForwardArgs& args) noexcept override {
    plain_loops::DispatchAny(request_, [&]<class S, class E>(S, E) {
      plain_loops::Forward<S, E>(args, request_.layer.activation, 0, args.x.rows);
    });
  }

  void InputGradient(const InputGradientArgs& args) noexcept override {
    plain_loops::Dispatch(request_,
                          [&]<class S, class T>(S, T) { plain_loops::InputGradient<S, T>(args, 0, args.delta.rows); });
  }

  void WeightGradient(const WeightGradientArgs& args) noexcept override {
    plain_loops::Dispatch(request_, [&]<class S, class T>(S, T) {
      plain_loops::WeightGradient<S, T>(args, 0, args.x.rows, static_cast<T*>(args.weights.gradient),
                                        static_cast<T*>(args.bias.gradient));
      if (args.rule != nullptr) {
        UpdateArrays<T>(*args.rule, true, args.weights, 0, request_.layer.weight_count());
        if (args.bias.value != nullptr) {
          UpdateArrays<T>(*args.rule, false, args.bias, 0, request_.layer.outputs);
        }
      }
    });
  }

  bool NeuronsApart() const override { return true; }
  std::string Describe() const override { return "serial: plain loops"; }

 private:
  LayerPlanRequest request_;
};

class SerialBackend final : public HostBackend {
 public:
  SerialBackend() : HostBackend(1) {}
  std::string_view name() const override { return "serial"; }
  std::string Describe() const override { return "serial: plain scalar loops, 1 thread"; }
  std::unique_ptr<PreparedLayer> Prepare(const LayerPlanRequest& request) const override {
    RequireSupport(*this, request);
    return std::make_unique<SerialLayer>(request);
  }
};

}  // namespace

std::unique_ptr<Backend> MakeSerialBackend(const BackendOptions&) { return std::make_unique<SerialBackend>(); }

}  // namespace lamina
