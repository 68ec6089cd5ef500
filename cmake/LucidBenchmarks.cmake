# One Google Benchmark executable for each file of benchmarks.

find_package(benchmark REQUIRED)

file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
foreach(source IN LISTS sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE lucid_all benchmark::benchmark_main)
endforeach()
