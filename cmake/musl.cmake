# Cross-compiles for Linux with the C library musl: preset musl (scripts/musl).
set(CMAKE_SYSTEM_NAME Linux)
set(LAMINA_MUSL ON)
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
