# liblamina_predict: what answers with a model that is there already, for those who cannot have the whole library
# (docs/decisions/0061-predict-library.md). The same sources once more, for size and without threads; of them the linker
# keeps what lamina.h leads to.
if(NOT LAMINA_PREDICT)
  return()
endif()
set(predict_sources
    lamina.cc platform/encoding.cc platform/file.cc platform/memory.cc platform/process.cc
    platform/$<IF:$<PLATFORM_ID:Darwin>,macos,linux>/process.cc
    base/base64.cc base/buffer.cc base/convert.cc base/dtype.cc base/error.cc base/file.cc base/list_text.cc base/mapped_file.cc base/names.cc
    base/one_thread.cc base/own_checksum.cc base/abandon.cc base/own_pages.cc base/part_file.cc base/stop.cc base/text.cc base/version.cc
    neuron/activation.cc neuron/formula_parameters.cc neuron/loss.cc neuron/problem.cc neuron/weight_storage.cc
    data/files/cells.cc data/files/csv.cc data/files/csv_box.cc data/files/csv_categories.cc data/files/csv_columns.cc
    data/files/csv_cursor.cc data/files/csv_dialect.cc data/files/csv_fields.cc data/files/csv_formats.cc
    data/files/csv_frame.cc data/files/csv_records.cc data/files/csv_sums.cc data/files/csv_text.cc data/files/date_text.cc
    data/files/encodings.cc data/files/missing_marks.cc data/files/number_formats.cc data/files/number_text.cc
    data/files/kddcup99.cc data/files/number_file.cc data/files/table.cc data/files/text_file.cc data/files/text_numbers.cc
    data/encode/bound_table.cc data/encode/category_lookup.cc data/encode/class_map.cc data/encode/column_encode.cc
    data/encode/column_statistics.cc data/encode/dataset.cc data/encode/decisions.cc data/encode/derive.cc
    data/encode/encoder_json.cc data/encode/fitted_column.cc data/encode/input_encoder.cc data/encode/new_labels.cc
    data/encode/preprocessor.cc data/encode/report_text.cc data/encode/target_encoder.cc
    data/encode/text_hash.cc data/encode/text_scores.cc
    backend/cpu/amx_support.cc backend/cpu/instruction_sets.cc backend/cpu/row_storage.cc nn/conjunctions.cc nn/network.cc nn/normalization.cc nn/parameter_array.cc nn/parameter_table.cc nn/rounded_network.cc
    model/answer.cc model/cell_rows.cc model/checked_json.cc model/data_profile.cc model/int8_ranges.cc model/intervals.cc model/matrix_file.cc model/model.cc
    model/network_file.cc model/outputs.cc model/placed_elements.cc model/safetensors.cc)
# What computes: for speed. Constructors in it are cold ([[gnu::cold]]), and so for size: a model is prepared once.
set(predict_kernel_sources
    model/nearest_predictor.cc model/predictor.cc model/row_encoder.cc backend/cpu/predict_kernels.cc
    backend/cpu/predict_targets.cc backend/cpu/row_forward.cc backend/cpu/row_kernels.cc nn/conjunctions_answer.cc)

add_library(lamina_predict_objects OBJECT ${predict_sources})
add_library(lamina_predict_kernels OBJECT ${predict_kernel_sources})
foreach(part lamina_predict_objects lamina_predict_kernels)
  set_target_properties(${part} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${part} PRIVATE ${PROJECT_SOURCE_DIR} ${FAST_FLOAT_INCLUDE} ${NANOFLANN_INCLUDE}
                             $<TARGET_PROPERTY:lamina::hwy,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(${part} PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json)
  target_compile_definitions(${part} PRIVATE LAMINA_FEW_ROW_PANELS FMT_STATIC_THOUSANDS_SEPARATOR=',' LAMINA_VERSION="${PROJECT_VERSION}")
  target_compile_options(${part} PRIVATE -ffunction-sections -fdata-sections -fno-math-errno)
endforeach()
# Kernels neither throw nor are thrown through.
set_property(SOURCE backend/cpu/predict_kernels.cc backend/cpu/row_kernels.cc nn/conjunctions_answer.cc TARGET_DIRECTORY lamina_predict_kernels
             APPEND PROPERTY COMPILE_OPTIONS -fno-exceptions -fno-asynchronous-unwind-tables)
target_compile_options(lamina_predict_kernels PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O2> $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=very-cheap>)
target_compile_options(lamina_predict_objects PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Os>)
lamina_unity(lamina_predict_objects ${CMAKE_CURRENT_SOURCE_DIR})

# Shared: libstdc++ is inside, so that it needs libc and libm alone. Static: one object whose own names are hidden, for
# it must not meet those of the whole library or of another fmt.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/predict.map "{ global: lamina_*; local: *; };\n")
set(predict_objects $<TARGET_OBJECTS:lamina_predict_objects> $<TARGET_OBJECTS:lamina_predict_kernels>)
add_library(lamina_predict SHARED ${predict_objects} base/quiet_terminate.cc)
set_target_properties(lamina_predict PROPERTIES CXX_VISIBILITY_PRESET hidden VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                      LINK_DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/predict.map)
target_link_options(lamina_predict PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--no-undefined
                    -Wl,--version-script=${CMAKE_CURRENT_BINARY_DIR}/predict.map $<$<NOT:$<CONFIG:Debug>>:-s>)
set_target_properties(lamina_predict PROPERTIES EXPORT_NAME predict)
target_include_directories(lamina_predict INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:include>)

file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/predict_objects.txt CONTENT "$<JOIN:${predict_objects},\n>\n")
set(predict_archive ${CMAKE_CURRENT_BINARY_DIR}/liblamina_predict.a)
add_custom_command(
  OUTPUT ${predict_archive}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${predict_archive} -DOBJCOPY=${CMAKE_OBJCOPY} -DAR=${CMAKE_AR}
          -DLINKER=${CMAKE_LINKER} -DHEADER=${CMAKE_CURRENT_SOURCE_DIR}/lamina.h -DOBJECTS=${CMAKE_CURRENT_BINARY_DIR}/predict_objects.txt
          -P ${PROJECT_SOURCE_DIR}/cmake/predict_archive.cmake
  DEPENDS ${predict_objects} lamina_predict_objects lamina_predict_kernels ${PROJECT_SOURCE_DIR}/cmake/predict_archive.cmake
  VERBATIM)
set(lamina_predict_archive_file ${predict_archive} PARENT_SCOPE)
add_custom_target(lamina_predict_archive ALL DEPENDS ${predict_archive})
add_library(lamina_predict_static STATIC IMPORTED GLOBAL)
add_dependencies(lamina_predict_static lamina_predict_archive)
set_target_properties(lamina_predict_static PROPERTIES IMPORTED_LOCATION ${predict_archive}
                      INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR} INTERFACE_LINK_LIBRARIES "stdc++;m")
