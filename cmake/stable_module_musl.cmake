# What lamina_stable_module needs on Linux with musl, and the program, which is the same file: C++'s library is in it, as
# zig links it, and exceptions do not pass from one of two copies to the other. lamina_stable_program starts `main` there.
# It has the names of the stable ABI, which Python has otherwise and the program never uses. What the module asks for
# beside them does not link.
file(CONFIGURE OUTPUT ${own}/pyconfig.h CONTENT [[
#define HAVE_UNISTD_H 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 8
#define SIZEOF_LONG_LONG 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_VOID_P 8
#define SIZEOF_WCHAR_T 4
]])
file(CONFIGURE OUTPUT ${own}/exported.map CONTENT "{ global: PyInit__core; main; local: *; };\n")
target_compile_options(lamina_cli PRIVATE -fPIC)
target_sources(lamina_stable_module PRIVATE $<TARGET_OBJECTS:lamina_cli>)
set_target_properties(lamina_stable_module PROPERTIES SUFFIX .abi3.so LINK_DEPENDS ${own}/exported.map)
target_compile_options(lamina_stable_module PRIVATE "SHELL:-include stdio.h")  # nanobind takes it from Python.h of before 3.11
target_link_libraries(lamina_stable_module PRIVATE lamina_study lamina_serve)
target_link_options(lamina_stable_module PRIVATE -Wl,--gc-sections -Wl,--version-script=${own}/exported.map)

list(TRANSFORM stable_names REPLACE "^(.*) (FUNC|DATA)$" "char \\1[1]")
list(JOIN stable_names ";\n" names)
file(CONFIGURE OUTPUT ${own}/program.c CONTENT "${names};\n")
add_executable(lamina_stable_program EXCLUDE_FROM_ALL ${own}/program.c)
set_target_properties(lamina_stable_program PROPERTIES OUTPUT_NAME lamina BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN/../lamina
                      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lamina_program)
target_link_libraries(lamina_stable_program PRIVATE lamina_stable_module)
target_link_options(lamina_stable_program PRIVATE -rdynamic)
