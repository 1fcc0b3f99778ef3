# Cross-compiles for macOS: preset macos (scripts/macos).
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_INSTALL_NAME_TOOL /bin/false CACHE FILEPATH "")  # nothing is installed here
include(${CMAKE_CURRENT_LIST_DIR}/zig.cmake)
