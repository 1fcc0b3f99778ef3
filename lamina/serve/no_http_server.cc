// In the place of http_server.cc where Boost is not there, or the system carries no service.
#include "lamina/platform/socket.h"
#include "lamina/serve/http_server.h"

namespace lamina::serve {

class HttpServer::Loops {};

Verdict HasHttpServer() {
  const std::string why = platform::WhyNoService();
  return Verdict::No(why.empty() ? "this lamina was built without its service: Boost.Beast was not found. Install "
                                   "libboost-dev and build again"
                                 : why);
}

HttpServer::HttpServer(Service&, const ServerOptions&) { throw Error(ErrorCode::kUnsupported, HasHttpServer().reason); }
HttpServer::~HttpServer() = default;
void HttpServer::Start() {}
std::string HttpServer::address() const { return ""; }
bool HttpServer::Stop(double, const std::function<bool()>&) { return true; }

}  // namespace lamina::serve
