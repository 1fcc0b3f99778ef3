// Loops on threads, and the thread that accepts connections for them. The constructor listens, Start() begins to
// answer, and Stop() answers what was asked, then ends. Connections and requests are left to the loops, addresses to
// the service.
#include "lamina/serve/http_server.h"

#include <fmt/format.h>

#include <boost/asio/generic/datagram_protocol.hpp>
#include <boost/asio/post.hpp>

#include <cerrno>
#include <thread>
#include <utility>

#include "lamina/platform/daemon.h"
#include "lamina/platform/file.h"
#include "lamina/platform/socket.h"
#include "lamina/serve/http_loop.h"
#include "lamina/serve/listen.h"

namespace lamina::serve {
namespace {

constexpr auto kPause = std::chrono::milliseconds(200);

}  // namespace

class HttpServer::Loops {
  // It waits for connections, and does nothing else. Asio takes it for one of datagrams, which waits by select on
  // Windows. At a stream Asio waits by reading none of its bytes, which Windows refuses before there is a connection.
  using Waiting = boost::asio::generic::datagram_protocol::socket;

 public:
  Loops(Service& service, const ServerOptions& options) : state_{service, options}, loops_(MakeLoops(state_)) {
    platform::RaiseFileLimit();
    listener_ = options.unix_socket.empty() ? ListenAt(options.host, options.port) : ListenAtPath(options.unix_socket);
    accepting_.assign({0, 0}, static_cast<Waiting::native_handle_type>(listener_.descriptor));
  }
  ~Loops() {
    End();
    if (!state_.options.unix_socket.empty()) {
      platform::Remove(state_.options.unix_socket.c_str());
    }
  }

  const std::string& address() const { return listener_.address; }

  void Start() {
    WaitForConnection();
    for (const auto& loop : loops_) {
      threads_.emplace_back([each = loop.get()] { each->Run(); });
    }
  }

  bool Stop(double seconds, const std::function<bool()>& hurry) {
    state_.service.Leave();
    state_.stopping = true;
    boost::asio::post(loops_.front()->context(), [this] {
      Accept();  // those that wait already
      boost::system::error_code ignored;
      accepting_.close(ignored);
      for (const auto& loop : loops_) {
        loop->Leave();
      }
    });
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    while (state_.connections.load() > 0 && Clock::now() < end && !hurry()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    const bool all = state_.connections.load() == 0;
    End();
    return all;
  }

 private:
  static std::vector<std::unique_ptr<Loop>> MakeLoops(SharedState& state) {
    std::vector<std::unique_ptr<Loop>> loops;
    for (int i = 0; i < std::max(1, state.options.threads); ++i) {
      loops.push_back(std::make_unique<Loop>(state));
      state.service.AddWorker(loops.back()->worker());
    }
    return loops;
  }

  void End() {
    for (const auto& loop : loops_) {
      loop->Stop();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

  void WaitForConnection() {
    accepting_.async_wait(Waiting::wait_read, [this](const boost::system::error_code& error) {
      if (!error && accepting_.is_open()) {
        Accept();
      }
    });
  }

  void Accept() {
    constexpr int kAtOnce = 256;
    for (int i = 0; i < kAtOnce; ++i) {
      platform::Accepted accepted = platform::Accept(listener_.descriptor);
      if (accepted.descriptor < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          pause_.expires_after(kPause);  // until some connections have ended
          pause_.async_wait([this](const boost::system::error_code& error) {
            if (!error) {
              WaitForConnection();
            }
          });
          return;
        }
        break;
      }
      TakeOrRefuse(std::move(accepted));
    }
    WaitForConnection();
  }

  void TakeOrRefuse(platform::Accepted accepted) {
    if (state_.connections.load() >= state_.options.limits.connections) {
      const std::string body = Refusal(503, "there are too many clients (--max-connections)").body;
      const std::string full = fmt::format(
          "HTTP/1.1 503 {}\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n"
          "Content-Length: {}\r\n\r\n{}",
          StatusText(503), body.size(), body);
      platform::CloseConnection(accepted.descriptor, full);
      loops_.front()->worker().counters().refused_connections.Add();
      return;
    }
    platform::SendLittleAtOnce(accepted.descriptor);
    state_.connections.fetch_add(1);
    loops_[next_++ % loops_.size()]->Take(accepted.descriptor, accepted.family,
                                          accepted.peer.empty() ? "unix" : std::move(accepted.peer));
  }

  SharedState state_;
  std::vector<std::unique_ptr<Loop>> loops_;
  Listener listener_;
  Waiting accepting_{loops_.front()->context()};
  boost::asio::steady_timer pause_{loops_.front()->context()};
  size_t next_ = 0;
  std::vector<std::thread> threads_;
};

Verdict HasHttpServer() { return Verdict::Yes(); }

HttpServer::HttpServer(Service& service, const ServerOptions& options)
    : loops_(std::make_unique<Loops>(service, options)) {}
HttpServer::~HttpServer() = default;
void HttpServer::Start() { loops_->Start(); }
std::string HttpServer::address() const { return loops_->address(); }
bool HttpServer::Stop(double seconds, const std::function<bool()>& hurry) { return loops_->Stop(seconds, hurry); }

}  // namespace lamina::serve
