// The extension module lamina._core: thin functions over the library, without the interpreter's lock while they
// compute. Everything that is easier said in Python (shapes, types, scikit-learn's contract) is in python/lamina.
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
#include "lamina/settings/settings.h"
#include "python/src/bindings.h"
#include "python/src/machine.h"

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
  module.def("version", &lamina::Version, "The library's version.");
  module.def("activations", &lamina::ActivationNames, "Names of activations.");
  module.def("synapses", &lamina::SynapseNames, "Names of synapses.");
  module.def("losses", &lamina::LossNames, "Names of losses.");
  module.def(
      "loss_of_numbers",
      [](const std::string& text) {
        const lamina::Loss loss = lamina::Loss::Parse(text);
        const bool positive = loss.targets() == lamina::LossTargets::kPositive;
        const bool log_link = positive || loss.targets() == lamina::LossTargets::kNotNegative;
        const std::string output(loss.output());
        return std::tuple{output.empty() ? "identity" : output, log_link, positive};
      },
      nanobind::arg("loss"), "The output activation, whether targets are of 0 or more, whether above 0.");
  module.def(
      "losses_of_numbers",
      [] {
        std::vector<std::string> names = lamina::LossNames();
        std::erase_if(names, [](const std::string& name) {
          const lamina::Loss loss = lamina::Loss::Parse(name);
          return loss.of_classes() || !loss.levels().empty();
        });
        return names;
      },
      "Names of losses of numbers with one output for every target.");
  module.def("optimizers", &lamina::UpdateKindNames, "Names of update rules.");
  module.def(
      "update_rule",
      [](const std::string& name) {
        const lamina::UpdateKind kind = lamina::ParseUpdateKind(name);
        return std::map<std::string, bool>{{"decay_apart", lamina::DecaysApart(kind)},
                                           {"grows_with_gradient", lamina::GrowsWithGradient(kind)},
                                           {"momentum", lamina::UpdateReads(kind, "momentum")}};
      },
      nanobind::arg("name"),
      "Whether weights decay apart from the gradient, steps grow with it, and there is a momentum.");
  module.def(
      "hidden_weights", [] { return lamina::NamesIn(lamina::kHiddenWeights); },
      "How hidden weights of extreme learning machines are drawn.");
  module.def("initializations", &lamina::InitializationNames, "Names of initialisations of weights.");
  module.def("backends", &lamina::BackendNames, "What a backend can be chosen by.");
  module.def(
      "describe_backend", [](const std::string& name, int threads) { return BackendOf(name, threads).Describe(); },
      nanobind::arg("name") = "auto", nanobind::arg("threads") = 0, "One line about a backend on this machine.");
  module.def(
      "setting_names",
      [] {
        std::vector<std::string> names;
        for (const lamina::Setting<lamina::TrainSettings>& row : lamina::SettingRows<lamina::TrainSettings>()) {
          names.emplace_back(row.name);
        }
        return names;
      },
      "Names of the settings of a training.");
  module.def("shown", &lamina::WithoutControls, nanobind::arg("text"), "A text on one line, as a terminal may get it.");
  module.def("threads", &ThreadsOf, nanobind::arg("threads") = 0, "How many threads a call computes on.");
}
