# How every file of the project is compiled and linked, and the dependencies that every layer may use.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)
  endif()
endif()

# The heavy loops are generated, so -O3 would only slow the build.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# A layer's files may be compiled before the archives of the layers below it exist.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(LUCID_CCACHE ccache)
  mark_as_advanced(LUCID_CCACHE)
  if(LUCID_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile ${LUCID_CCACHE})
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
# Python runs tools/generate. One search for it and for what the module needs, so that both are of one version.
set(python_components Interpreter)
if(LUCID_BUILD_PYTHON)
  list(APPEND python_components Development.Module)
endif()
find_package(Python 3.11 REQUIRED COMPONENTS ${python_components})
find_path(LUCID_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
mark_as_advanced(LUCID_XXHASH_INCLUDE_DIR)

add_library(lucid_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp)
target_include_directories(lucid_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_options(lucid_fmt PRIVATE -ffunction-sections -fdata-sections)

add_library(lucid_flags INTERFACE)
target_include_directories(lucid_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_include_directories(lucid_flags SYSTEM INTERFACE ${LUCID_XXHASH_INCLUDE_DIR})
target_compile_definitions(lucid_flags INTERFACE XXH_INLINE_ALL)
target_link_libraries(lucid_flags INTERFACE lucid_fmt nlohmann_json::nlohmann_json Threads::Threads)

# -ffp-contract=off keeps every product rounded: results must not depend on what a compiler chose to fuse.
target_compile_options(lucid_flags INTERFACE
  -Wall -Wextra -fno-math-errno -ffp-contract=off -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Tables of ops name the fields they set and leave the rest at their defaults.
  target_compile_options(lucid_flags INTERFACE -Wno-missing-designated-field-initializers)
endif()
# Spares every access to a thread's own memory a call; the few hundred bytes fit into what loaders keep for libraries
# that are loaded late. What another library keeps for threads must not be reached so: PyTorch may have loaded libstdc++
# already, and Lucid could not be imported. So nothing but codegen, where LLVM's headers do, uses std::call_once.
target_compile_options(lucid_flags INTERFACE
  $<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,lucid_codegen>>:-ftls-model=initial-exec>)
if(LUCID_WERROR)
  target_compile_options(lucid_flags INTERFACE -Werror)
endif()

target_link_options(lucid_flags INTERFACE -Wl,--gc-sections -Wl,--as-needed)
find_program(LUCID_LLD NAMES ld.lld-22 ld.lld)
mark_as_advanced(LUCID_LLD)
if(LUCID_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(lucid_flags INTERFACE --ld-path=${LUCID_LLD})
endif()

if(LUCID_SANITIZE)
  target_compile_options(lucid_flags INTERFACE
    -fsanitize=${LUCID_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1 -DLUCID_SANITIZED)
  target_link_options(lucid_flags INTERFACE -fsanitize=${LUCID_SANITIZE})
endif()

if(LUCID_COVERAGE)
  target_compile_options(lucid_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(lucid_flags INTERFACE -fprofile-instr-generate)
endif()

# Lets only the names in cmake/<script> out of a shared library. Not for executables: there the sanitizers' runtime, an
# archive too, must be seen by the C library.
function(lucid_hide_symbols target script)
  set(script ${PROJECT_SOURCE_DIR}/cmake/${script})
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL -Wl,--version-script=${script})
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${script})
endfunction()
