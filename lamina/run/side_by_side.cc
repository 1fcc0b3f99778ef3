// A thread for every session. What they ask of the device meets there (backend/runs_beside.h).
#include "lamina/run/side_by_side.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <vector>

#include "lamina/backend/runs_beside.h"
#include "lamina/settings/method.h"
#include "lamina/settings/mixed_recipe.h"

namespace lamina {
namespace {

constexpr int64_t kMost = 8;                   // a guess, until a GPU tells
constexpr int64_t kBeside_bytes = 64'000'000;  // what a run takes beside its rows: libraries, a small network
constexpr auto kLook = std::chrono::milliseconds(20);

int64_t Bytes(const Dataset& rows) {
  return rows.size() * (rows.features.cols() * DTypeSize_bytes(rows.features.dtype()) +
                        rows.targets.cols() * DTypeSize_bytes(rows.targets.dtype()));
}

void ThrowFirst(const std::vector<std::exception_ptr>& failures) {
  for (const std::exception_ptr& failure : failures) {
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }
}

// How many sessions like this one, about, the backend has room for at a time; 1: it runs one after the other.
int64_t MostSideBySide(const TrainSession& session) {
  const TrainSettings& settings = session.settings();
  const bool beside = dynamic_cast<const RunsBeside*>(&session.backend()) != nullptr;
  if (!beside || !LearnsByGradient(settings) || HasOthersBeside(settings) || !settings.memory.empty()) {
    return 1;  // systems of all rows, or chunks of rows, take what memory there is
  }
  const int64_t one_bytes = 2 * (Bytes(session.train()) + Bytes(session.validation())) + kBeside_bytes;
  return std::clamp<int64_t>(session.backend().FreeMemory_bytes() / one_bytes, 1, kMost);
}

std::vector<TrainResult> RunSideBySide(const std::vector<std::unique_ptr<TrainSession>>& sessions,
                                       const TrainCallbacks& callbacks) {
  std::vector<TrainResult> results(sessions.size());
  if (sessions.size() == 1) {
    results[0] = sessions[0]->Run(callbacks);
    return results;
  }
  std::vector<std::exception_ptr> failures(sessions.size());
  std::atomic<bool> stopped = false;
  std::atomic<size_t> running = sessions.size() - 1;
  const auto asked = [&](const std::function<bool()>& ask) {
    if (ask && !stopped && ask()) {
      stopped = true;
    }
    return stopped.load();
  };
  const auto run = [&](size_t i, const TrainCallbacks& with) {
    try {
      results[i] = sessions[i]->Run(with);
    } catch (...) {
      failures[i] = std::current_exception();
      stopped = true;
    }
  };
  TrainCallbacks quiet;
  quiet.stop_requested = quiet.abandon_requested = [&] { return stopped.load(); };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < sessions.size(); ++i) {
    threads.emplace_back([&, i] {
      run(i, quiet);
      --running;
    });
  }
  TrainCallbacks first = callbacks;
  first.stop_requested = [&] { return asked(callbacks.stop_requested); };
  first.abandon_requested = [&] { return asked(callbacks.abandon_requested); };
  run(0, first);
  while (running > 0) {
    asked(callbacks.stop_requested);
    std::this_thread::sleep_for(kLook);
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ThrowFirst(failures);
  return results;
}

}  // namespace

SideBySide::Trained SideBySide::Train(int64_t number, int64_t count,
                                      const std::function<void(int64_t number, const TrainSession& session)>& started,
                                      const TrainCallbacks& callbacks) {
  std::vector<std::unique_ptr<TrainSession>> sessions;
  if (trained_.empty()) {
    sessions.push_back(make_(number, nullptr));
  }
  TrainSession& next = sessions.empty() ? *trained_.front().first : *sessions.front();
  if (started) {
    started(number, next);
  }
  if (!sessions.empty()) {
    const int64_t end = std::min(count + 1, number + MostSideBySide(next));
    for (int64_t other = number + 1; other < end; ++other) {
      sessions.push_back(make_(other, [&] { return dynamic_cast<const RunsBeside&>(next.backend()).MakeBeside(); }));
    }
    std::vector<TrainResult> results = RunSideBySide(sessions, callbacks);
    for (size_t i = 0; i < results.size(); ++i) {
      trained_.emplace_back(std::move(sessions[i]), std::move(results[i]));
    }
  }
  Trained trained = std::move(trained_.front());
  trained_.pop_front();
  return trained;
}

}  // namespace lamina
