# One GoogleTest executable `<folder>_test` for each folder of tests that holds *_test.cpp files.

find_package(GTest REQUIRED)
include(GoogleTest)

add_library(lucid_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
target_link_libraries(lucid_test_main PRIVATE GTest::gtest lucid_flags)

# The tests of a layer link what the layer may use, so that they build while the layers above are being worked on.
function(lucid_layers_under_test folder result)
  list(FIND LUCID_LAYERS "${folder}" position)
  if(folder STREQUAL "base" OR folder STREQUAL "tools")
    set(layers base)
  elseif(folder STREQUAL "code")
    set(layers base loop code)
  elseif(folder STREQUAL "codegen")
    set(layers base ir loop ops code codegen)
  elseif(folder STREQUAL "spirv")
    set(layers base ir loop ops code spirv)
  elseif(folder STREQUAL "device")
    # No ops, as below.
    set(layers base loop code spirv device)
  elseif(folder STREQUAL "runtime")
    # No ops: a build with the thread sanitizer needs little else.
    set(layers base loop code codegen spirv device runtime)
  elseif(folder STREQUAL "schedule")
    # Kernels are tested as machine code too.
    set(layers base ir loop ops passes schedule code codegen)
  elseif(position EQUAL -1)
    set(layers ${LUCID_LAYERS})
  else()
    # ir and loop are tested with the op table, which lies in ops.
    list(FIND LUCID_LAYERS ops ops_position)
    if(position LESS ops_position)
      set(position ${ops_position})
    endif()
    math(EXPR count "${position} + 1")
    list(SUBLIST LUCID_LAYERS 0 ${count} layers)
  endif()
  set(${result} ${layers} PARENT_SCOPE)
endfunction()

file(GLOB test_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/tests/*)
foreach(path IN LISTS test_folders)
  file(GLOB sources CONFIGURE_DEPENDS ${path}/*_test.cpp)
  if(NOT sources)
    continue()
  endif()
  cmake_path(GET path FILENAME folder)
  add_executable(${folder}_test ${sources} $<TARGET_OBJECTS:lucid_test_main>)
  target_include_directories(${folder}_test PRIVATE
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tools)
  target_compile_definitions(${folder}_test PRIVATE LUCID_TEST_DIR="${path}")
  target_link_libraries(${folder}_test PRIVATE GTest::gtest)
  lucid_precompile(${folder}_test <gtest/gtest.h>)
  if(LUCID_SANITIZE)
    target_compile_options(${folder}_test PRIVATE -O0)
  endif()
  lucid_layers_under_test(${folder} layers)
  lucid_link_layers(${folder}_test PRIVATE ${layers})
  gtest_discover_tests(${folder}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${folder}/"
                       PROPERTIES LABELS ${folder} TIMEOUT 300)
endforeach()

# The parser of signatures, which is part of no layer.
target_sources(tools_test PRIVATE ${PROJECT_SOURCE_DIR}/tools/signatures/declaration.cpp
                                  ${PROJECT_SOURCE_DIR}/src/ir/scanner.cpp)

# This one has an op table of its own.
target_sources(added_op_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/added_op/added_op.cpp)

# The files of the other folders have helpers of the same names.
foreach(folder base code codegen compiler data device ir loop ops passes program runtime spirv tensor)
  lucid_unite(${folder}_test)
endforeach()
