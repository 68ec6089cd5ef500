# One libFuzzer executable `fuzz_<name>` for each file of tests/fuzz. What reads hostile input is compiled with the address
# and undefined behaviour sanitizers, and optimised less so that it compiles fast; the rest of the library, which such input
# never reaches, is compiled as in a release.

foreach(layer base ir ops tensor data)
  target_compile_options(lucid_${layer} PRIVATE -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all
    -g1 -O1)
endforeach()

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  add_executable(fuzz_${name} ${source})
  target_compile_options(fuzz_${name} PRIVATE -fsanitize=address,undefined,fuzzer -fno-sanitize-recover=all -g1)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=address,undefined,fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE lucid_all)
endforeach()
