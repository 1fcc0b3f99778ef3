# The test "consumer": the installed package works in a project of its own. Shares nothing with the build tree.
set(flags "")
if(LAMINA_SANITIZE)
  set(flags -fsanitize=${LAMINA_SANITIZE})
endif()
add_test(NAME consumer
         COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer
                 -DCONSUMER=${CMAKE_CURRENT_SOURCE_DIR}/consumer -DSOURCE=${PROJECT_SOURCE_DIR}
                 -DGENERATOR=${CMAKE_GENERATOR} -DCOMPILER=${CMAKE_CXX_COMPILER} -DFLAGS=${flags}
                 -P ${CMAKE_CURRENT_SOURCE_DIR}/run_consumer.cmake)
set_tests_properties(consumer PROPERTIES LABELS install TIMEOUT 300)
