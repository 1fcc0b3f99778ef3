# Writes a version script for the linker: what OBJECTS (a file that names them) ask of a shared library stays seen, all
# else is hidden. Data that both may have a copy of, such as types of exceptions, stay seen, too. Called with OUTPUT,
# OBJECTS and the tool NM.
execute_process(COMMAND ${NM} -P @${OBJECTS} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n ]+ [UuVv]( [^\n]*)?\n" lines "${lines}")
list(TRANSFORM lines REPLACE " .*\n" "")
list(REMOVE_DUPLICATES lines)
list(JOIN lines ";\n    " names)
file(WRITE ${OUTPUT} "{\n  global:\n    ${names};\n  local: *;\n};\n")
