# Cross-compiles for 64-bit Arm on another Debian or Ubuntu machine and runs the tests under qemu: preset aarch64, for which
# "scripts/setup aarch64" installs compiler, emulator and libraries.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig)  # where FindEXPAT looks first
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
# The emulator's processor may have no more than every aarch64 has. Programs run with the system's libraries for Arm, loader
# and all: with some of them from beside the cross compiler, of another version, they hang before main.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -cpu cortex-a72)
