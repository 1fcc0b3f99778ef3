// The service is left out: its loops wait for descriptors, which sockets of Windows are not.
#include "lamina/platform/socket.h"

namespace lamina::platform {

std::string WhyNoService() { return "the program for Windows has no service; those for Linux do (docs/install.md)"; }
void SendDatagram(std::string_view, std::string_view) noexcept {}  // no supervisor asks for it

}  // namespace lamina::platform
