// The files of web/page as texts in the library (cmake/page.cmake makes them).
#pragma once

#include <span>
#include <string_view>

namespace lamina {

std::string_view PageTemplate();                 // page.html: {{style}}, {{model}}, {{numbers}}, {{engine}}, {{script}}
std::string_view PageStyle();                    // page.css
std::span<const std::string_view> PageEngine();  // engine/*.js: what answers rows
std::span<const std::string_view> PageScript();  // *.js: what is seen

}  // namespace lamina
