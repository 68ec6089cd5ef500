# liblucid_runtime.so: runs exported programs. It has no compiler, no autograd and no Python; include/lucid.h is its
# interface.

# Objects, not the archive of `program`: what the linker takes from archives is hidden.
add_library(lucid_runtime_library SHARED ${PROJECT_SOURCE_DIR}/src/program/c_api.cpp
            ${PROJECT_SOURCE_DIR}/src/program/library/missing_parts.cpp)
# Of the archives, only what the interface needs is taken.
lucid_link_layers(lucid_runtime_library PRIVATE base code runtime data program)
target_link_options(lucid_runtime_library PRIVATE ${LUCID_LINK_OPTIONS} -Wl,--gc-sections -Wl,--as-needed)
# The sanitizers' own functions are in the program, and their reports need the names of functions.
if(NOT LUCID_SANITIZE)
  target_link_options(lucid_runtime_library PRIVATE -Wl,--no-undefined -Wl,-s)
endif()
lucid_hide_symbols(lucid_runtime_library runtime_library.map)
target_include_directories(lucid_runtime_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
add_library(lucid::runtime ALIAS lucid_runtime_library)
set_target_properties(lucid_runtime_library PROPERTIES
  EXPORT_NAME runtime OUTPUT_NAME lucid_runtime VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

if(LUCID_BUILD_SHARED)
  install(TARGETS lucid_runtime_library EXPORT lucid-targets COMPONENT cpp)
  install(FILES ${PROJECT_SOURCE_DIR}/include/lucid.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
endif()
