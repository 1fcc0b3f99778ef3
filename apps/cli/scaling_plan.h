// lamina train --plan: what more ranks would bring, before anything starts.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "lamina/run/session.h"

namespace lamina::cli {

struct PlanFlags {
  bool plan = false;
  int ranks = 16;
  double latency_us = 30;  // of Ethernet and TCP
  double bandwidth_gbits = 10;
  void AddTo(CLI::App& app);
};

/// Measures a step of the session, and the network where there are ranks; prints a table where `text`, and returns it.
/// Collective.
nlohmann::json PlanRanks(const TrainSession& session, const PlanFlags& flags, bool text);

}  // namespace lamina::cli
