// Whether a build tests less of every kind (tests/suites.cmake).
#pragma once

namespace lamina {

#if defined(LAMINA_TESTS_THIN)
inline constexpr bool kThin = true;  // everything takes ten times as long
#else
inline constexpr bool kThin = false;
#endif

}  // namespace lamina
