# Programs for work on Lucid itself.

# Measures the math functions against the C library; docs/accuracy.md says how.
add_executable(accuracy_sweep ${PROJECT_SOURCE_DIR}/tools/accuracy/sweep.cpp)
target_compile_options(accuracy_sweep PRIVATE -mavx2 -mfma -O3)
target_include_directories(accuracy_sweep PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
lucid_link_layers(accuracy_sweep PRIVATE base ir loop ops passes schedule code codegen spirv device runtime compiler tensor)
target_link_libraries(accuracy_sweep PRIVATE mvec)
