// In the place of http_server.cc where Boost is not there.
#include "lamina/serve/http_server.h"

namespace lamina::serve {

class HttpServer::Loops {};

Verdict HasHttpServer() {
  return Verdict::No(
      "this lamina was built without its service: Boost.Beast was not found. Install libboost-dev and build again");
}

HttpServer::HttpServer(Service&, const ServerOptions&) { throw Error(ErrorCode::kUnsupported, HasHttpServer().reason); }
HttpServer::~HttpServer() = default;
void HttpServer::Start() {}
std::string HttpServer::address() const { return ""; }
bool HttpServer::Stop(double, const std::function<bool()>&) { return true; }

}  // namespace lamina::serve
