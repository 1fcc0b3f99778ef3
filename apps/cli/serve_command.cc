// lamina serve. Models are read, a server is started, and signals and new model files are awaited until the end. Then
// requests under way are answered. Requests and connections are left to lamina/serve.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "command.h"
#include "lamina/base/error.h"
#include "lamina/base/file.h"
#include "lamina/base/hardware.h"
#include "lamina/base/setting.h"
#include "lamina/base/text.h"
#include "lamina/platform/daemon.h"
#include "lamina/platform/file.h"
#include "lamina/platform/process.h"
#include "lamina/serve/access_log.h"
#include "lamina/serve/http_server.h"
#include "lamina/serve/service.h"
#include "lamina/settings/meanings.h"
#include "model_input.h"
#include "print.h"

namespace lamina::cli {
namespace {

struct ServeCommand {
  std::vector<std::string> models;
  ModelInput input;  // how a model answers
  serve::ServerOptions options;
  std::string token;
  std::string access_log;
  std::string max_body = "16MiB";
  double grace_seconds = 10;
  double reload_seconds = 1;
  bool alone = false;
  bool check = false;
};

// "digits" of "models/digits.safetensors", "a" of "a=models/digits.safetensors".
serve::NamedModel NamedModelOf(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos && !platform::FactsOfTarget(text.c_str())) {
    return {text.substr(0, equals), text.substr(equals + 1)};
  }
  return {std::filesystem::path(text).stem().string(), text};
}

// The text of --token, or of the file behind '@'.
std::string TokenOf(const std::string& given) {
  if (!given.starts_with('@')) {
    return given;
  }
  const std::string content = ReadFile(given.substr(1));
  std::string token(Trim(std::string_view(content).substr(0, content.find_first_of("\r\n"))));
  if (token.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "the first line, which is the token, is empty",
                {.file = given.substr(1), .setting = "token"});
  }
  return token;
}

bool IsLoopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

void SayModels(const serve::ModelSet& models) {
  for (size_t i = 0; i < models.size(); ++i) {
    const auto model = models.Get(i);
    Print("{}: {}, {} of a row, {}\n", models.name(i), model->model().ShapeText(),
          Counted(std::ssize(model->columns()), "column{s}"),
          model->classifies() ? fmt::format("{} classes", model->model().preprocessor.targets().class_names().size())
                              : Counted(model->model().network.outputs(), "number{s}"));
  }
}

void SayReloads(const std::vector<serve::Reloaded>& reloads, serve::AccessLog* log) {
  for (const serve::Reloaded& each : reloads) {
    if (each.error.empty()) {
      PrintToStderr("lamina: {}: the new file answers now, version {}\n", each.name, each.version);
    } else {
      PrintToStderr("lamina: warning: {}: the new file was refused, version {} answers on: {}\n", each.name,
                    each.version, each.error);
    }
    if (log != nullptr) {
      log->AddEvent("reload", {{"model", each.name}, {"version", std::to_string(each.version)}, {"error", each.error}});
    }
  }
}

// Until a signal asks for the end.
void Watch(const ServeCommand& command, serve::ModelSet& models, serve::AccessLog* log) {
  for (;;) {
    const platform::Wish wish = platform::NextWish(command.reload_seconds > 0 ? command.reload_seconds : -1);
    if (wish == platform::Wish::kEnd) {
      return;
    }
    const bool renew = wish == platform::Wish::kRenew;
    if (renew && log != nullptr) {
      log->Reopen();
    }
    SayReloads(models.Reload(/*all=*/renew), log);
  }
}

// From the first connection to the last.
void Serve(ServeCommand& command, serve::ModelSet& models, const std::string& token) {
  platform::IgnoreBrokenPipes();  // of a log that nobody reads
  platform::HoldWishes();         // before there are threads
  serve::Service service(models, token);
  std::optional<serve::AccessLog> log;
  if (!command.access_log.empty()) {
    log.emplace(command.access_log);
    command.options.log = [&log](const serve::LogEntry& entry) { log->Add(entry); };
    service.set_lost_lines(&log->lost());
  }
  serve::HttpServer server(service, command.options);
  serve::AccessLog* events = log ? &*log : nullptr;
  if (events != nullptr) {
    events->AddEvent("start", {{"address", server.address()}});
  }
  server.Start();
  if (command.access_log != "-") {
    SayModels(models);
    PrintProgress(fmt::format("listening at {}\n", server.address()));
  }
  if (command.options.unix_socket.empty() && token.empty() && !IsLoopback(command.options.host)) {
    PrintWarning("anyone who reaches this address may ask; --token demands a token, and TLS is left to a proxy");
  }
  serve::NotifyManager("READY=1");
  Watch(command, models, events);
  serve::NotifyManager("STOPPING=1");
  const bool whole = server.Stop(command.grace_seconds, [] { return platform::NextWish(0) == platform::Wish::kEnd; });
  if (events != nullptr) {
    events->AddEvent("stop", {{"all_answered", whole ? "yes" : "no"}});
  }
  if (!whole) {
    PrintWarning("some connections were cut");
  }
}

int RunServe(ServeCommand& command) {
  if (const Verdict has = serve::HasHttpServer(); !has) {
    throw Error(ErrorCode::kUnsupported, has.reason);
  }
  const std::string token = TokenOf(command.token);
  command.options.limits.body_bytes = WithSetting("max-body", [&] { return ParseBytes(command.max_body); });
  command.options.batches = !command.alone;
  command.options.threads = command.input.threads > 0 ? command.input.threads : UsableCores();
  std::vector<serve::NamedModel> files;
  std::transform(command.models.begin(), command.models.end(), std::back_inserter(files), &NamedModelOf);
  serve::ModelSet models(std::move(files), [&command](const std::string& path) {
    ModelInput input = command.input;
    input.model = path;
    return input.ReadModel();
  });
  if (command.check) {
    serve::Service::Check(models);
    SayModels(models);
  } else {
    Serve(command, models, token);
  }
  return kExitOk;
}

void AddLimits(CLI::App& sub, ServeCommand& command) {
  serve::ServerLimits& limits = command.options.limits;
  const auto seconds = CLI::Range(0.1, 86400.0);
  sub.add_option("--max-body", command.max_body, "Bytes of a request")->type_name("BYTES")->capture_default_str();
  sub.add_option("--max-connections", limits.connections, "Connections at a time; more get 503 and Retry-After")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  sub.add_option("--max-rows", limits.waiting_rows,
                 "Rows that may wait for answers in a thread; a request beyond gets 429 and Retry-After")
      ->check(CLI::Range(1, 1000000000))
      ->capture_default_str();
  sub.add_option("--timeout", limits.request_seconds,
                 "Seconds until a request is read whole, and until its response is taken")
      ->check(CheckFinite)
      ->check(seconds)
      ->capture_default_str();
  sub.add_option("--idle", limits.idle_seconds, "Seconds between two requests of a connection")
      ->check(CheckFinite)
      ->check(seconds)
      ->capture_default_str();
  sub.add_option("--grace", command.grace_seconds, "Seconds for requests under way when the service is to end")
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
}

void AddAnswers(CLI::App& sub, ServeCommand& command) {
  sub.add_option("--missing", command.input.missing,
                 "Missing values: error, drop (no answer to the row) or mean (of the training rows); default: as the "
                 "model was trained")
      ->type_name("TEXT");
  sub.add_option("--unseen", command.input.unseen,
                 "Categories that training did not see: error, or zero (all zeros, counted); default: as the model was "
                 "trained")
      ->type_name("TEXT");
  AddWeightsTo(sub, command.input.weights, "as the file keeps them");
  AddThreadsFlag(sub, command.input.threads, "Threads, each with connections of its own; 0: all cores");
  sub.add_flag("--one-by-one", command.alone, "Answer every request by itself, also where several wait");
}

}  // namespace

Command AddServe(CLI::App& app) {
  auto command = std::make_shared<ServeCommand>();
  CLI::App* sub = app.add_subcommand("serve", "Answer rows over HTTP: a service for one or several models");
  sub->add_option("--model,model", command->models,
                  "Model files written by lamina train; NAME=FILE gives one a name, else it is the file's")
      ->required()
      ->type_name("FILE");
  sub->add_option("--host", command->options.host, "Address to listen at; 0.0.0.0: all")->capture_default_str();
  sub->add_option("--port", command->options.port, "Port; 0: any that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  sub->add_option("--socket", command->options.unix_socket, "Listen at this unix socket, and at no port")
      ->type_name("FILE");
  sub->add_option("--token", command->token,
                  "Requests must show it: Authorization: Bearer TEXT, or as the password that a browser asks for; "
                  "@FILE: its first line")
      ->type_name("TEXT");
  sub->add_option("--access-log", command->access_log, "Append a line of JSON for every request; -: standard output")
      ->type_name("FILE");
  sub->add_option("--reload", command->reload_seconds,
                  "Seconds between two looks at the model files, whose new versions are taken; 0: on SIGHUP alone")
      ->check(CheckFinite)
      ->check(CLI::Range(0.0, 86400.0))
      ->capture_default_str();
  AddAnswers(*sub, *command);
  AddLimits(*sub, *command);
  sub->add_flag("--check", command->check, "Load the models, answer a usual row of each, say what they are, and end");
  sub->footer(
      "Addresses: / is the model as a page, /predict takes rows as JSON or CSV, /v2/... is the Open Inference "
      "Protocol, "
      "/invocations MLflow's, /metrics Prometheus', /openapi.json lists all.\nExamples:\n"
      "  lamina serve digits.safetensors\n"
      "  lamina serve digits.safetensors price=houses.safetensors --port 9000 --token @token.txt\n"
      "  curl -H 'Content-Type: text/csv' --data-binary @new.csv http://127.0.0.1:8080/predict\n"
      "  lamina serve --check digits.safetensors");
  return {sub, [command] { return RunServe(*command); }};
}

}  // namespace lamina::cli
