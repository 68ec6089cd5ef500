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

nanobind_add_module(_core NOMINSIZE NB_STATIC ${sources})
target_include_directories(_core PRIVATE ${PROJECT_SOURCE_DIR}/python)
target_link_libraries(_core PRIVATE lucid_all)
lucid_hide_symbols(_core python_module.map)
# python_calls.cpp says why.
set(stand_ins ${PROJECT_SOURCE_DIR}/python/bindings/python_calls.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${stand_ins})
file(STRINGS ${stand_ins} stand_ins REGEX "^LUCID_(STAND_IN|CALL)\\(")
list(TRANSFORM stand_ins REPLACE "^LUCID_[A-Z_]+\\([^,]*, ([A-Za-z_]+),.*" "LINKER:--wrap=\\1")
target_link_options(_core PRIVATE ${stand_ins})
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/lucid)
install(TARGETS _core LIBRARY DESTINATION lucid COMPONENT python)

file(GLOB package CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/lucid ${PROJECT_SOURCE_DIR}/python/lucid/*)
list(REMOVE_ITEM package __pycache__)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/lucid)
foreach(entry IN LISTS package)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/lucid/${entry} ${PROJECT_BINARY_DIR}/python/lucid/${entry} SYMBOLIC)
endforeach()
