// One connection of the service, read and written by the thread of its loop.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/http/parser.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lamina/serve/server_options.h"
#include "lamina/serve/service.h"

namespace lamina::serve {

using Clock = std::chrono::steady_clock;

/// A body that takes memory as its bytes come, whatever length was announced.
struct GrowingBody {
  using value_type = std::string;
  class reader {
   public:
    template <bool kRequest, class Fields>
    reader(boost::beast::http::header<kRequest, Fields>&, value_type& body) : body_(body) {}
    void init(const boost::optional<uint64_t>& length, boost::system::error_code& error) {
      constexpr uint64_t kAtOnce = 64 << 10;
      body_.reserve(length ? std::min(*length, kAtOnce) : 0);
      error = {};
    }
    template <class Buffers>
    size_t put(const Buffers& buffers, boost::system::error_code& error) {
      const size_t before = body_.size();
      for (auto at = boost::asio::buffer_sequence_begin(buffers); at != boost::asio::buffer_sequence_end(buffers);
           ++at) {
        const boost::asio::const_buffer part = *at;
        body_.append(static_cast<const char*>(part.data()), part.size());
      }
      error = {};
      return body_.size() - before;
    }
    void finish(boost::system::error_code& error) { error = {}; }

   private:
    value_type& body_;
  };
};

class Loop;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Loop& loop, boost::asio::generic::stream_protocol::socket socket, std::string peer);
  ~Connection();

  void Start() { WaitForBytes(); }
  /// The job that Parse() began has its response.
  void Answer();
  /// The loop's clock has come to the deadline, or the service ends.
  void Expire();
  void Close();
  /// A last look at what has come; then it ends, at once where nothing did.
  void Leave(bool at_once);

  Clock::time_point deadline() const { return deadline_; }
  Job* job() const { return handled_.job.get(); }
  int64_t held_bytes() const { return static_cast<int64_t>(rest_.size()) + body_bytes_; }

  size_t place = 0;  // among the loop's connections

 private:
  using Parser = boost::beast::http::request_parser<GrowingBody>;

  void WaitForBytes();
  void ReadBytes();
  /// Whatever is whole of `bytes` is answered; what is not is kept.
  void Parse(std::string_view bytes);
  bool ParseOne(std::string_view& bytes);
  void BeginRequest();
  bool Continues(const Parser& parser);
  void HandleRequest();
  void Refuse(int status, std::string_view words);
  void FinishRequest();
  void Send();
  void SendRest();
  void Linger();
  void Log(int status, int64_t bytes);

  Loop& loop_;
  boost::asio::generic::stream_protocol::socket socket_;
  std::string peer_;
  std::optional<Parser> parser_;  // of the request that is being read
  std::string rest_;              // bytes that were read and not parsed yet
  std::string out_;               // of responses that are not sent yet
  size_t sent_ = 0;
  Handled handled_;
  Clock::time_point deadline_;
  Clock::time_point asked_at_;  // when the request was read whole
  int64_t body_bytes_ = 0;      // of the request that is being read
  int64_t answered_rows_ = 0;   // of the request that is answered
  bool keeps_ = true;           // further requests may come
  bool leaving_ = false;
  bool sending_ = false;
  bool waiting_ = false;  // for bytes
  bool closed_ = false;
  bool continued_ = false;  // 100 Continue was sent
};

}  // namespace lamina::serve
