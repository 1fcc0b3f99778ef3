# Cross-compiles lamina.exe for 64-bit Windows with Debian's MinGW: preset windows (scripts/windows). The reasons stand in
# docs/decisions/0082-windows.md.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
include(${CMAKE_CURRENT_LIST_DIR}/linked_headers.cmake)
# Windows keeps stacks at 16 bytes, and g++ takes vectors in them for aligned all the same (its bug 54412): moves that need
# no alignment, which cost nothing on processors that have AVX. More sections than the usual object has, too.
set(CMAKE_CXX_FLAGS_INIT "-Wa,-muse-unaligned-vector-move,-mbig-obj")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,--gc-sections,--no-insert-timestamp,-u,mbrtowc")
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR wine64)
