# Most of what a file includes are headers of the C++ library and of fmt. A target compiles them once.

option(LUCID_PRECOMPILE "Precompile the headers of libraries" ON)

set(LUCID_PRECOMPILED <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstring> <functional> <map> <memory> <mutex>
    <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <unordered_set> <utility> <variant>
    <vector> <fmt/format.h>)

# Further headers follow the target.
function(lucid_precompile target)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  # It is not worth it for few files. Other compilers make precompiled headers in another way than cmake/compile knows.
  if(LUCID_PRECOMPILE AND count GREATER 4 AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_precompile_headers(${target} PRIVATE ${LUCID_PRECOMPILED} ${ARGN})
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()
