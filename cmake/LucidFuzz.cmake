# One libFuzzer executable `fuzz_<name>` for each file of tests/fuzz, in a build with the address and undefined behaviour
# sanitizers. libFuzzer counts which code runs in the layers that hostile input reaches, not in the fuzzers themselves.

if(NOT LUCID_SANITIZE MATCHES "address")
  message(FATAL_ERROR "LUCID_BUILD_FUZZERS needs LUCID_SANITIZE=address,undefined; the asan preset sets both")
endif()

foreach(layer base code ir ops tensor data program)
  target_compile_options(lucid_${layer} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()

# What the runtime library has of its own. The programs that load the library define what counts.
target_compile_options(lucid_runtime_library PRIVATE -fsanitize=fuzzer-no-link)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  # The interface in C is fuzzed as its users have it, in a library of its own.
  if(name STREQUAL "c_api")
    target_link_libraries(fuzz_${name} PRIVATE lucid_runtime_library lucid_flags)
  else()
    target_link_libraries(fuzz_${name} PRIVATE lucid_all)
  endif()
endforeach()
