# The nanobind module lucid._core. It lies beside the Python sources in the wheel and, for work on a checkout, in
# <build>/python/lucid together with links to them: PYTHONPATH=<build>/python imports it.

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/bindings/*.cpp
     ${PROJECT_SOURCE_DIR}/python/capture/*.cpp)
if(NOT sources)
  message(STATUS "No Python module: python/bindings has no sources")
  return()
endif()

execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

# python_calls.cpp says why.
set(wrappers ${PROJECT_SOURCE_DIR}/python/bindings/python_calls.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${wrappers})
file(STRINGS ${wrappers} wrappers REGEX "^LUCID_WRAP(_CALL)?\\(")
list(TRANSFORM wrappers REPLACE "^LUCID_[A-Z_]+\\([^,]*, ([A-Za-z_]+),.*" "LINKER:--wrap=\\1")

file(GLOB package CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/lucid ${PROJECT_SOURCE_DIR}/python/lucid/*)
list(REMOVE_ITEM package __pycache__)

# These see parts of Python.h that others do not.
set_source_files_properties(${PROJECT_SOURCE_DIR}/python/capture/names.cpp ${PROJECT_SOURCE_DIR}/python/capture/watch.cpp
                            PROPERTIES SKIP_PRECOMPILE_HEADERS TRUE)

# Makes a package in <build>/<folder>/lucid.
function(lucid_add_package target folder)
  nanobind_add_module(${target} NOMINSIZE NB_STATIC ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/python)
  target_link_libraries(${target} PRIVATE lucid_all)
  lucid_hide_symbols(${target} python_module.map)
  target_link_options(${target} PRIVATE ${wrappers})
  lucid_precompile(${target} <nanobind/nanobind.h>)
  set(path ${PROJECT_BINARY_DIR}/${folder}/lucid)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${path})
  file(MAKE_DIRECTORY ${path})
  foreach(entry IN LISTS package)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/lucid/${entry} ${path}/${entry} SYMBOLIC)
  endforeach()
  foreach(stub IN LISTS LUCID_STUBS)
    cmake_path(GET stub FILENAME entry)
    file(CREATE_LINK ${stub} ${path}/${entry} SYMBOLIC)
  endforeach()
endfunction()

lucid_add_package(_core python ${sources})
install(TARGETS _core LIBRARY DESTINATION lucid COMPONENT python)
install(FILES ${LUCID_STUBS} DESTINATION lucid COMPONENT python)

# The same package with the op table of tests/added_op, for tests/python/test_added_op.py.
set(added_op ${PROJECT_SOURCE_DIR}/tests/added_op/added_op.cpp)
if(EXISTS ${added_op})
  lucid_add_package(core_with_added_op added_op ${added_op} $<TARGET_OBJECTS:_core>)
  set_target_properties(core_with_added_op PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
