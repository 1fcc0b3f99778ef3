// Bytes to requests by Boost.Beast's parser, responses to bytes.
#include "lamina/serve/http_connection.h"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include <algorithm>
#include <utility>

#include "lamina/serve/http_loop.h"

namespace lamina::serve {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

constexpr uint32_t kHeaderBytes = 16 << 10;
constexpr size_t kMostPipelined = 1 << 20;  // of responses that nobody takes, before requests are read on

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

Clock::duration Seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Connection::Connection(Loop& loop, boost::asio::generic::stream_protocol::socket socket, std::string peer)
    : loop_(loop), socket_(std::move(socket)), peer_(std::move(peer)) {
  deadline_ = Clock::now() + Seconds(loop_.limits().idle_seconds);
}

Connection::~Connection() { loop_.Release(held_bytes()); }

void Connection::WaitForBytes() {
  if (closed_ || waiting_ || sending_) {
    return;
  }
  waiting_ = true;
  socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](const error_code& error) {
    self->waiting_ = false;
    if (error) {
      self->Close();
    } else if (!self->closed_) {
      self->ReadBytes();
    }
  });
}

void Connection::ReadBytes() {
  error_code error;
  std::vector<char>& room = loop_.room();
  const size_t count = socket_.read_some(boost::asio::buffer(room), error);
  if (error == boost::asio::error::would_block || error == boost::asio::error::try_again) {
    WaitForBytes();
    return;
  }
  if (error || count == 0) {
    Close();  // gone, at the end of a request or within one
    return;
  }
  const std::string_view bytes(room.data(), count);
  if (rest_.empty()) {
    Parse(bytes);
    return;
  }
  if (!loop_.Hold(static_cast<int64_t>(count))) {
    Refuse(503, "too many requests are being read");
    return;
  }
  rest_.append(bytes);
  std::string all = std::exchange(rest_, {});
  Parse(all);
  loop_.Release(static_cast<int64_t>(all.size()));
}

void Connection::Parse(std::string_view bytes) {
  while (!bytes.empty() && !closed_ && keeps_ && handled_.job == nullptr && out_.size() < kMostPipelined) {
    if (!ParseOne(bytes)) {
      break;
    }
  }
  if (closed_) {
    return;
  }
  if (!bytes.empty() && keeps_) {
    if (!loop_.Hold(static_cast<int64_t>(bytes.size()))) {
      Refuse(503, "too many requests are being read");
      return;
    }
    rest_.assign(bytes);
  }
  if (!out_.empty()) {
    Send();
  } else if (handled_.job == nullptr) {
    WaitForBytes();
  }
}

void Connection::BeginRequest() {
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(kHeaderBytes);
  parser_->body_limit(static_cast<uint64_t>(loop_.limits().body_bytes));
  deadline_ = Clock::now() + Seconds(loop_.limits().request_seconds);
  continued_ = false;
}

// Takes what it can of `bytes`; false where more is needed, or the request was refused.
bool Connection::ParseOne(std::string_view& bytes) {
  if (!parser_) {
    BeginRequest();
  }
  error_code error;
  const size_t before = parser_->get().body().size();
  const size_t used = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  bytes.remove_prefix(used);
  const auto grown = static_cast<int64_t>(parser_->get().body().size() - before);
  if (grown > 0) {
    if (!loop_.Hold(grown)) {
      Refuse(503, "too many requests are being read");
      return false;
    }
    body_bytes_ += grown;
  }
  if (error && error != http::error::need_more) {
    const bool body = error == http::error::body_limit;
    const bool header = error == http::error::header_limit;
    const bool version = error == http::error::bad_version;
    Refuse(body      ? 413
           : header  ? 431
           : version ? 505
                     : 400,
           body ? fmt::format("a request may have {} bytes (--max-body)", loop_.limits().body_bytes)
                : "this is no request of HTTP/1.1: " + error.message());
    return false;
  }
  if (!parser_->is_done()) {
    if (parser_->is_header_done() && !Continues(*parser_)) {
      return false;
    }
    return used > 0 && !bytes.empty();
  }
  HandleRequest();
  return true;
}

// "Expect: 100-continue" waits for a word before it sends its body.
bool Connection::Continues(const Parser& parser) {
  if (parser.content_length() && *parser.content_length() > static_cast<uint64_t>(loop_.limits().body_bytes)) {
    Refuse(413, fmt::format("a request may have {} bytes (--max-body)", loop_.limits().body_bytes));
    return false;
  }
  if (!continued_ && boost::beast::iequals(parser.get()[http::field::expect], "100-continue")) {
    continued_ = true;
    out_ += "HTTP/1.1 100 Continue\r\n\r\n";
  }
  return true;
}

void Connection::HandleRequest() {
  asked_at_ = Clock::now();
  deadline_ = asked_at_ + Seconds(loop_.limits().request_seconds);
  const auto& message = parser_->get();
  keeps_ = message.keep_alive() && !leaving_ && !loop_.shared().stopping.load(std::memory_order_relaxed);
  const std::string_view target = View(message.target());
  const size_t question = target.find('?');
  Request request;
  request.method = View(message.method_string());
  request.path = target.substr(0, question);
  request.query = question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  request.content_type = View(message[http::field::content_type]);
  request.accept = View(message[http::field::accept]);
  request.authorization = View(message[http::field::authorization]);
  request.header_length = View(message["Inference-Header-Content-Length"]);
  request.body = message.body();
  if (!request.path.starts_with('/')) {
    handled_ = {Endpoint::kOther, Refusal(400, "the address does not begin with /"), nullptr};
  } else {
    handled_ = loop_.shared().service.Handle(request, loop_.worker());
  }
  if (handled_.job == nullptr) {
    FinishRequest();
  } else if (!loop_.Enqueue(*this)) {
    handled_.response = handled_.job->refuse(429, "too many rows wait for answers");
    handled_.response.headers = "Retry-After: 1\r\n";
    handled_.job.reset();
    loop_.worker().counters().refused_connections.Add();
    FinishRequest();
  }
}

void Connection::Answer() {
  handled_.response = std::move(handled_.job->response);
  const int64_t rows = handled_.job->rows.asked;
  handled_.job.reset();
  if (closed_) {
    return;
  }
  answered_rows_ = rows;
  FinishRequest();
  std::string rest = std::exchange(rest_, {});
  loop_.Release(static_cast<int64_t>(rest.size()));
  Parse(rest);
}

// The response behind those that wait to be sent.
void Connection::FinishRequest() {
  Response& response = handled_.response;
  const bool head = parser_->get().method() == http::verb::head;
  fmt::format_to(std::back_inserter(out_), "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}\r\n",
                 response.status, StatusText(response.status), response.content_type, response.body.size(),
                 response.headers, keeps_ ? "" : "Connection: close\r\n");
  if (!head) {
    out_ += response.body;
  }
  Log(response.status, head ? 0 : std::ssize(response.body));
  response = {};
  loop_.Release(std::exchange(body_bytes_, 0));
  parser_.reset();
  deadline_ = Clock::now() + Seconds(out_.empty() ? loop_.limits().idle_seconds : loop_.limits().request_seconds);
}

void Connection::Log(int status, int64_t bytes) {
  const double seconds = std::chrono::duration<double>(Clock::now() - asked_at_).count();
  loop_.worker().counters().CountRequest(handled_.endpoint, status, seconds);
  const int64_t rows = std::exchange(answered_rows_, 0);
  if (loop_.shared().options.log) {
    const auto& message = parser_->get();
    loop_.shared().options.log({peer_, std::string(View(message.method_string())), std::string(View(message.target())),
                                status, std::ssize(message.body()), bytes, rows, seconds});
  }
}

// What cannot be read on: the connection ends behind the refusal.
void Connection::Refuse(int status, std::string_view words) {
  if (!parser_) {
    BeginRequest();
  }
  keeps_ = false;
  asked_at_ = Clock::now();
  handled_ = {Endpoint::kOther, Refusal(status, words), nullptr};
  if (status == 503) {
    handled_.response.headers = "Retry-After: 1\r\n";
    loop_.worker().counters().refused_connections.Add();
  }
  loop_.Release(std::ssize(rest_));
  rest_.clear();
  FinishRequest();
  Send();
}

void Connection::Send() {
  if (sending_ || closed_) {
    return;
  }
  error_code error;
  sent_ += socket_.write_some(boost::asio::buffer(out_.data() + sent_, out_.size() - sent_), error);
  if (error && error != boost::asio::error::would_block && error != boost::asio::error::try_again) {
    Close();
    return;
  }
  if (sent_ < out_.size()) {
    SendRest();
    return;
  }
  constexpr size_t kKept = 64 << 10;
  sent_ = 0;
  out_.clear();
  if (out_.capacity() > kKept) {
    out_.shrink_to_fit();
  }
  if (!keeps_) {
    error_code ignored;
    socket_.shutdown(boost::asio::socket_base::shutdown_send, ignored);
    Linger();
    return;
  }
  if (handled_.job != nullptr) {
    return;
  }
  if (!parser_) {
    deadline_ = Clock::now() + Seconds(loop_.limits().idle_seconds);
  }
  if (rest_.empty()) {
    WaitForBytes();
    return;
  }
  std::string rest = std::exchange(rest_, {});  // pipelined requests that waited for room
  loop_.Release(std::ssize(rest));
  Parse(rest);
}

void Connection::SendRest() {
  sending_ = true;
  socket_.async_wait(boost::asio::socket_base::wait_write, [self = shared_from_this()](const error_code& error) {
    self->sending_ = false;
    if (error) {
      self->Close();
    } else {
      self->Send();
    }
  });
}

// Reads what still comes for a moment: closing at once would take the response from the peer's hands.
void Connection::Linger() {
  constexpr double kMoment_seconds = 1;
  deadline_ = std::min(deadline_, Clock::now() + Seconds(kMoment_seconds));
  if (closed_) {
    return;
  }
  socket_.async_wait(boost::asio::socket_base::wait_read, [self = shared_from_this()](const error_code& error) {
    error_code failed = error;
    std::vector<char>& room = self->loop_.room();
    const size_t count = failed || self->closed_ ? 0 : self->socket_.read_some(boost::asio::buffer(room), failed);
    if (failed || count == 0) {
      self->Close();
    } else {
      self->Linger();
    }
  });
}

void Connection::Expire() {
  const bool within = parser_ && handled_.job == nullptr && out_.empty();
  if (within || !out_.empty()) {
    loop_.worker().counters().timeouts.Add();
  }
  if (within && keeps_) {
    Refuse(408, "the request was not read whole in time (--timeout)");
    return;
  }
  Close();
}

void Connection::Leave(bool at_once) {
  leaving_ = true;
  const bool idle = !parser_ && handled_.job == nullptr && out_.empty() && rest_.empty();
  if (idle && at_once) {
    Close();
  }
}

void Connection::Close() {
  if (std::exchange(closed_, true)) {
    return;
  }
  error_code ignored;
  socket_.close(ignored);
  loop_.Remove(*this);
}

}  // namespace lamina::serve
