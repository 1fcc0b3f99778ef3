// The ranks of an MPI job that run the same command together.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "lamina/cluster/communicator.h"

namespace lamina::cli {

/// --mpi and --rank-timeout.
struct RankFlags {
  std::string mpi = "auto";
  double timeout_seconds = 600;
  void AddTo(CLI::App& app);
};

/// Joins the job that started this process, once; null: it is alone.
Communicator* JoinRanks(const RankFlags& flags);
/// What JoinRanks() has joined; null: alone.
Communicator* JoinedRanks();
/// Waits for the other ranks to end, too; before the process does.
void LeaveRanks();

/// Whether this process speaks for all: alone, or the first rank. Before JoinRanks() by the launcher's environment.
bool SpeaksForAll();
/// What this rank is to say of an error, which all ranks or only some have come to; "": another one says it.
std::string ErrorOfRanks(const std::string& message);
/// Gives the launcher time to read what was said, then ends the job where others would wait for this rank. That mostly
/// ends this process, too.
void EndRanks(int exit_code);
/// For a rank with an error that the first rank has, too, before they have joined. A launcher ends the job when one
/// rank ends, and does not wait for what others have to say.
void LetFirstSpeak();

/// {"ranks", "by", "hosts"}; null for a process that is alone.
nlohmann::json RanksJson();

}  // namespace lamina::cli
