// The extension module lamina._core: thin functions over the library, without the interpreter's lock while they
// compute. Errors are bound first, then each file's functions, then names. Everything that is easier said in Python
// (shapes, types, scikit-learn's contract) is in python/lamina.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lamina/backend/backends.h"
#include "lamina/base/hardware.h"
#include "lamina/base/names.h"
#include "lamina/base/text.h"
#include "lamina/base/version.h"
#include "lamina/data/encode/preprocess_options.h"
#include "lamina/neuron/activation.h"
#include "lamina/neuron/loss.h"
#include "lamina/neuron/problem.h"
#include "lamina/neuron/update_facts.h"
#include "lamina/neuron/update_rule.h"
#include "lamina/nn/network.h"
#include "lamina/rbf/elm.h"
#include "lamina/settings/removed_settings.h"
#include "lamina/settings/settings.h"
#include "python/src/bindings.h"
#include "python/src/machine.h"

namespace lamina::python {
namespace {

void BindLosses(nanobind::module_& module) {
  module.def("losses", &LossNames, "Names of losses.");
  module.def(
      "loss_of_numbers",
      [](const std::string& text) {
        const Loss loss = Loss::Parse(text);
        const bool positive = loss.targets() == LossTargets::kPositive;
        const bool log_link = positive || loss.targets() == LossTargets::kNotNegative;
        const std::string output(loss.output());
        return std::tuple{output.empty() ? "identity" : output, log_link, positive};
      },
      nanobind::arg("loss"), "The output activation, whether targets are of 0 or more, whether above 0.");
  module.def(
      "losses_of_numbers",
      [] {
        std::vector<std::string> names = LossNames();
        std::erase_if(names, [](const std::string& name) {
          const Loss loss = Loss::Parse(name);
          return loss.of_classes() || !loss.levels().empty();
        });
        return names;
      },
      "Names of losses of numbers with one output for every target.");
}

void BindFormulas(nanobind::module_& module) {
  module.def("activations", &ActivationNames, "Names of activations.");
  module.def("synapses", &SynapseNames, "Names of synapses.");
  module.def("optimizers", &UpdateKindNames, "Names of update rules.");
  module.def(
      "update_rule",
      [](const std::string& name) {
        const UpdateKind kind = ParseUpdateKind(name);
        return std::map<std::string, bool>{{"decay_apart", DecaysApart(kind)},
                                           {"grows_with_gradient", GrowsWithGradient(kind)},
                                           {"momentum", UpdateReads(kind, "momentum")}};
      },
      nanobind::arg("name"),
      "Whether weights decay apart from the gradient, steps grow with it, and there is a momentum.");
  module.def(
      "hidden_weights", [] { return NamesIn(kHiddenWeights); },
      "How hidden weights of extreme learning machines are drawn.");
  module.def("initializations", &InitializationNames, "Names of initializations of weights.");
}

void BindMachine(nanobind::module_& module) {
  module.def("version", &Version, "The library's version.");
  module.def("backends", &BackendNames, "What a backend can be chosen by.");
  module.def(
      "describe_backend", [](const std::string& name, int threads) { return BackendOf(name, threads).Describe(); },
      nanobind::arg("name") = "auto", nanobind::arg("threads") = 0, "One line about a backend on this machine.");
  module.def(
      "setting_names",
      [] {
        std::vector<std::string> names;
        for (const Setting<TrainSettings>& row : SettingRows<TrainSettings>()) {
          names.emplace_back(row.name);
        }
        return names;
      },
      "Names of the settings of a training.");
  module.def(
      "removed_names",
      [] {
        std::vector<std::string> names;
        for (const RemovedSetting& row : RemovedSettings()) {
          names.emplace_back(row.name);
        }
        return names;
      },
      "Names of settings that earlier versions had; `train` says of each what to do instead.");
  module.def("shown", &WithoutControls, nanobind::arg("text"), "A text on one line, as a terminal may get it.");
  module.def("threads", &ThreadsOf, nanobind::arg("threads") = 0, "How many threads a call computes on.");
  module.def("limit_threads", &lamina::LimitUsualThreads, nanobind::arg("most"),
             "For calls without a number of threads; 0: no limit.");
}

}  // namespace
}  // namespace lamina::python

NB_MODULE(_core, module) {
  using namespace lamina::python;  // NOLINT(google-build-using-namespace): of this file only
  module.doc() = "The compiled part of lamina. Use the package lamina.";
  BindErrors(module);
  BindArrayFunctions(module);
  BindNetwork(module);
  BindTraining(module);
  BindClusters(module);
  BindDirect(module);
  BindTable(module);
  BindModel(module);
  BindFormulas(module);
  BindLosses(module);
  BindMachine(module);
}
