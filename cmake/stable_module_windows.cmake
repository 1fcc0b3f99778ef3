# What lamina_stable_module needs on Windows. What python3.dll does not have does not link.
configure_file(${LAMINA_STABLE_PYTHON}/PC/pyconfig.h.in ${own}/pyconfig.h COPYONLY)
list(TRANSFORM stable_names REPLACE " FUNC$" "")
list(JOIN stable_names "\n" names)
file(CONFIGURE OUTPUT ${own}/python3.def CONTENT "LIBRARY python3.dll\nEXPORTS\n${names}\n")
add_custom_command(OUTPUT ${own}/libpython3.a DEPENDS ${own}/python3.def
                   COMMAND x86_64-w64-mingw32-dlltool -d ${own}/python3.def -l ${own}/libpython3.a)
add_custom_target(lamina_stable_python DEPENDS ${own}/libpython3.a)
add_dependencies(lamina_stable_module lamina_stable_python)
set_target_properties(lamina_stable_module PROPERTIES SUFFIX .pyd)
target_link_libraries(lamina_stable_module PRIVATE ${own}/libpython3.a)
target_link_options(lamina_stable_module PRIVATE -static -Wl,--gc-sections,--no-insert-timestamp,-u,mbrtowc)
