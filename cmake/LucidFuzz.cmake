# One libFuzzer executable `fuzz_<name>` for each file of tests/fuzz, in a build with the address and undefined behaviour
# sanitizers. libFuzzer counts which code runs in the layers that hostile input reaches.

if(NOT LUCID_SANITIZE MATCHES "address")
  message(FATAL_ERROR "LUCID_BUILD_FUZZERS needs LUCID_SANITIZE=address,undefined; the asan preset sets both")
endif()

foreach(layer base code ir ops tensor data program)
  target_compile_options(lucid_${layer} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE lucid_all)
endforeach()
