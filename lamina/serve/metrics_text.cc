// Sums over the workers, a family of metrics after the other.
#include "lamina/serve/metrics_text.h"

#include <fmt/format.h>

#include <iterator>

#include "lamina/base/version.h"
#include "lamina/model/drift.h"

namespace lamina::serve {
namespace {

// In quotes: a backslash, a quote and a line end are escaped.
std::string Label(std::string_view text) {
  std::string label = "\"";
  for (const char c : text) {
    label += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  }
  return label + '"';
}

class Writer {
 public:
  void Family(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP lamina_{0} {2}\n# TYPE lamina_{0} {1}\n", name, type, help);
    name_ = name;
  }
  template <class T>
  void Line(std::string_view labels, T value, std::string_view ending = "") {
    fmt::format_to(std::back_inserter(text_), "lamina_{}{}{}{}{} {}\n", name_, ending, labels.empty() ? "" : "{",
                   labels, labels.empty() ? "" : "}", value);
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

template <class Get>
int64_t Sum(std::span<const Worker* const> workers, const Get& get) {
  int64_t sum = 0;
  for (const Worker* worker : workers) {
    sum += get(const_cast<Worker*>(worker)->counters()).value();
  }
  return sum;
}

void AddRequests(Writer& writer, std::span<const Worker* const> workers) {
  const auto names = EndpointNames();
  writer.Family("requests_total", "counter", "Requests by what was asked and how it ended.");
  for (size_t e = 0; e < names.size(); ++e) {
    for (size_t status = 2; status <= 5; ++status) {
      const int64_t count = Sum(workers, [&](Counters& c) -> const Count& { return c.endpoint(e).by_status[status]; });
      if (count > 0 || status == 2) {
        writer.Line(fmt::format("endpoint=\"{}\",status=\"{}xx\"", names[e], status), count);
      }
    }
  }
  writer.Family("request_seconds", "histogram",
                "From a request that is read whole to its response in the system's hands.");
  for (size_t e = 0; e < names.size(); ++e) {
    int64_t below = 0;
    for (size_t b = 0; b <= Counters::kBounds_seconds.size(); ++b) {
      below += Sum(workers, [&](Counters& c) -> const Count& { return c.endpoint(e).latency[b]; });
      const bool last = b == Counters::kBounds_seconds.size();
      writer.Line(fmt::format("endpoint=\"{}\",le=\"{}\"", names[e],
                              last ? "+Inf" : fmt::format("{}", Counters::kBounds_seconds[b])),
                  below, "_bucket");
    }
    const std::string label = fmt::format("endpoint=\"{}\"", names[e]);
    const int64_t ns = Sum(workers, [&](Counters& c) -> const Count& { return c.endpoint(e).nanoseconds; });
    writer.Line(label, static_cast<double>(ns) * 1e-9, "_sum");
    writer.Line(label, below, "_count");
  }
}

void AddModelCounts(Writer& writer, const ModelSet& models, std::span<const Worker* const> workers) {
  struct Family {
    const char* name;
    const char* help;
    Count Counters::OfModel::*count;
  };
  constexpr Family kFamilies[] = {
      {"rows_total", "Rows that were asked about.", &Counters::OfModel::rows},
      {"rows_without_answer_total", "Rows that miss a value and have no answer.", &Counters::OfModel::without_answer},
      {"unseen_values_total", "Values of categories that training did not see.", &Counters::OfModel::unseen},
      {"missing_values_total", "Missing values: filled in, or rows left out for them.", &Counters::OfModel::missing},
      {"odd_values_total", "Cells among numbers that are none.", &Counters::OfModel::odd},
      {"far_values_total", "Numbers far outside of those of training.", &Counters::OfModel::far_values}};
  for (const Family& family : kFamilies) {
    writer.Family(family.name, "counter", family.help);
    for (size_t m = 0; m < models.size(); ++m) {
      writer.Line("model=" + Label(models.name(m)),
                  Sum(workers, [&](Counters& c) -> const Count& { return c.model(m).*family.count; }));
    }
  }
  writer.Family("model_version", "gauge", "Of the model that answers: 1 for the first of its name.");
  for (size_t m = 0; m < models.size(); ++m) {
    writer.Line("model=" + Label(models.name(m)), models.Get(m)->version());
  }
  writer.Family("model_reloads_total", "counter", "New files that were taken.");
  for (size_t m = 0; m < models.size(); ++m) {
    writer.Line("model=" + Label(models.name(m)), models.reloads(m));
  }
  writer.Family("model_reload_failures_total", "counter", "New files that were refused; the model before answers on.");
  for (size_t m = 0; m < models.size(); ++m) {
    writer.Line("model=" + Label(models.name(m)), models.failures(m));
  }
}

// The population stability index of what was asked since the model is there.
void AddDrift(Writer& writer, const ModelSet& models, std::span<const Worker* const> workers) {
  writer.Family("drift_psi", "gauge",
                "Population stability index of a column since the model is served: above 0.1 it "
                "shifted, above 0.25 it drifted.");
  for (size_t m = 0; m < models.size(); ++m) {
    const std::shared_ptr<const ServedModel> model = models.Get(m);
    const DataProfile& profile = model->model().profile;
    std::vector<std::shared_ptr<DriftCounts>> counts;
    for (const Worker* worker : workers) {
      Counters::OfModel& own = const_cast<Worker*>(worker)->counters().model(m);
      const std::scoped_lock lock(own.mutex);
      if (own.drift && own.drift_of == model->version()) {
        counts.push_back(own.drift);
      }
    }
    for (size_t c = 0; c < profile.columns.size() && !counts.empty(); ++c) {
      std::vector<double> bins;
      for (const auto& each : counts) {
        each->AddTo(c, bins);
      }
      const ColumnDrift drift = DriftOfCounts(profile.columns[c], profile.rows, bins);
      if (drift.stability_index == drift.stability_index) {  // there were rows
        writer.Line(fmt::format("model={},column={}", Label(models.name(m)), Label(profile.columns[c].name)),
                    drift.stability_index);
      }
    }
  }
}

}  // namespace

std::string MetricsText(const ModelSet& models, std::span<const Worker* const> workers, int64_t lost_lines) {
  Writer writer;
  writer.Family("info", "gauge", "The version of the program.");
  writer.Line("version=" + Label(Version()), 1);
  AddRequests(writer, workers);
  AddModelCounts(writer, models, workers);
  AddDrift(writer, models, workers);
  const int64_t opened = Sum(workers, [](Counters& c) -> const Count& { return c.connections; });
  writer.Family("connections", "gauge", "Open connections.");
  writer.Line("", opened - Sum(workers, [](Counters& c) -> const Count& { return c.connections_closed; }));
  writer.Family("connections_total", "counter", "Connections so far.");
  writer.Line("", opened);
  writer.Family("refused_total", "counter", "Connections and requests refused because there were too many.");
  writer.Line("", Sum(workers, [](Counters& c) -> const Count& { return c.refused_connections; }));
  writer.Family("timeouts_total", "counter", "Connections ended because a request or its reading took too long.");
  writer.Line("", Sum(workers, [](Counters& c) -> const Count& { return c.timeouts; }));
  writer.Family("batches_total", "counter", "Times that waiting requests were answered together.");
  writer.Line("", Sum(workers, [](Counters& c) -> const Count& { return c.batches; }));
  writer.Family("batched_requests_total", "counter", "Requests in them.");
  writer.Line("", Sum(workers, [](Counters& c) -> const Count& { return c.batched; }));
  writer.Family("log_lines_lost_total", "counter", "Lines of the access log that could not be written.");
  writer.Line("", lost_lines);
  return writer.Take();
}

}  // namespace lamina::serve
