// A thread's event loop: its connections, its clock, and the requests that wait to be answered together.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lamina/serve/http_connection.h"

namespace lamina::serve {

/// What the loops of a server share.
struct SharedState {
  Service& service;
  ServerOptions options;
  std::atomic<int64_t> connections{0};
  std::atomic<int64_t> waiting_bytes{0};
  std::atomic<bool> stopping{false};
};

class Loop {
 public:
  explicit Loop(SharedState& shared);

  void Run();
  /// From any thread: a connection that was accepted.
  void Take(int descriptor, int family, std::string peer);
  /// From any thread: no new requests but those that have come; then every connection ends.
  void Leave();
  void CloseAll();
  void Stop() { context_.stop(); }

  boost::asio::io_context& context() { return context_; }
  SharedState& shared() { return shared_; }
  const ServerLimits& limits() const { return shared_.options.limits; }
  Worker& worker() { return worker_; }
  std::vector<char>& room() { return room_; }

  void Add(const std::shared_ptr<Connection>& connection);
  void Remove(Connection& connection);
  /// Whether another `bytes` of requests may be held; they are counted then.
  bool Hold(int64_t bytes);
  void Release(int64_t bytes) { shared_.waiting_bytes.fetch_sub(bytes, std::memory_order_relaxed); }
  /// The job is answered with those that wait beside it. False: too many rows wait.
  bool Enqueue(Connection& connection);

 private:
  void Tick();
  void AnswerWaiting();

  SharedState& shared_;
  boost::asio::io_context context_{1};
  boost::asio::steady_timer timer_{context_};
  Worker worker_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::vector<std::shared_ptr<Connection>> waiting_;
  int64_t waiting_rows_ = 0;
  std::vector<char> room_;
  Clock::time_point leave_at_ = Clock::time_point::max();
};

}  // namespace lamina::serve
