// One thread's connections, and its requests that wait together. Take() begins a connection, Enqueue() collects jobs,
// and AnswerWaiting() gives them to the worker. Tick() ends what waits too long. Bytes are left to http_connection.cc,
// answers to the worker.
#include "lamina/serve/http_loop.h"

#include <boost/asio/post.hpp>

#include <utility>

#include "lamina/base/team_choice.h"
#include "lamina/platform/socket.h"

namespace lamina::serve {
namespace {

constexpr auto kTick = std::chrono::milliseconds(200);
constexpr auto kLastRequests = std::chrono::milliseconds(500);  // that are under way when the service is to end
constexpr size_t kRoom_bytes = 64 << 10;

}  // namespace

Loop::Loop(SharedState& shared) : shared_(shared), worker_(shared.service.models().size()), room_(kRoom_bytes) {}

void Loop::Run() {
  const AloneScope alone(true);  // other connections want the cores
  Tick();
  context_.run();
  connections_.clear();
  waiting_.clear();
}

void Loop::Take(int descriptor, int family, std::string peer) {
  boost::asio::post(context_, [this, descriptor, family, from = std::move(peer)]() mutable {
    boost::asio::generic::stream_protocol::socket socket(context_);
    boost::system::error_code error;
    socket.assign(boost::asio::generic::stream_protocol(family, 0), descriptor, error);
    if (error) {
      platform::CloseConnection(descriptor);
      shared_.connections.fetch_sub(1);
      return;
    }
    socket.non_blocking(true, error);
    const auto connection = std::make_shared<Connection>(*this, std::move(socket), std::move(from));
    Add(connection);
    connection->Start();
  });
}

void Loop::Add(const std::shared_ptr<Connection>& connection) {
  connection->place = connections_.size();
  connections_.push_back(connection);
  worker_.counters().connections.Add();
}

void Loop::Remove(Connection& connection) {
  const size_t place = connection.place;
  if (place >= connections_.size() || connections_[place].get() != &connection) {
    return;
  }
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  worker_.counters().connections_closed.Add();
  shared_.connections.fetch_sub(1);
}

bool Loop::Hold(int64_t bytes) {
  if (shared_.waiting_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes > limits().waiting_bytes) {
    shared_.waiting_bytes.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  return true;
}

bool Loop::Enqueue(Connection& connection) {
  const int64_t rows = connection.job()->rows.asked;
  if (!waiting_.empty() && waiting_rows_ + rows > limits().waiting_rows) {
    return false;
  }
  waiting_rows_ += rows;
  waiting_.push_back(connection.shared_from_this());
  if (waiting_.size() == 1) {  // behind all that have come by now
    boost::asio::post(context_, [this] { AnswerWaiting(); });
  }
  return true;
}

void Loop::AnswerWaiting() {
  const std::vector<std::shared_ptr<Connection>> now = std::exchange(waiting_, {});
  waiting_rows_ = 0;
  std::vector<Job*> jobs;
  jobs.reserve(now.size());
  for (const auto& connection : now) {
    jobs.push_back(connection->job());
  }
  if (shared_.options.batches) {
    worker_.Run(jobs);
  } else {
    for (Job* job : jobs) {
      worker_.Run({&job, 1});
    }
  }
  worker_.counters().CountBatch(std::ssize(jobs));
  for (const auto& connection : now) {
    connection->Answer();
  }
}

void Loop::Tick() {
  const Clock::time_point now = Clock::now();
  for (size_t i = connections_.size(); i-- > 0;) {  // from the back: who ends changes places with the last
    if (i < connections_.size()) {
      const std::shared_ptr<Connection> connection = connections_[i];
      if (connection->deadline() <= now) {
        connection->Expire();
      } else if (now >= leave_at_) {
        connection->Leave(true);
      }
    }
  }
  timer_.expires_after(kTick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      Tick();
    }
  });
}

void Loop::Leave() {
  boost::asio::post(context_, [this] {
    leave_at_ = Clock::now() + kLastRequests;
    for (const auto& connection : connections_) {
      connection->Leave(false);
    }
  });
}

void Loop::CloseAll() {
  boost::asio::post(context_, [this] {
    while (!connections_.empty()) {
      const std::shared_ptr<Connection> last = connections_.back();
      last->Close();
    }
  });
}

}  // namespace lamina::serve
