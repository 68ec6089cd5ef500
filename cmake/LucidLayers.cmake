# One static library `lucid_<layer>` for each folder of src that has sources, in the order in which data passes through
# them. All see the same include directories; tools/check_layers holds the includes to the order.

set(LUCID_LAYERS base ir loop ops passes schedule code codegen spirv device runtime compiler tensor jit nn optim data models program)

foreach(layer IN LISTS LUCID_LAYERS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp)
  if(sources)
    add_library(lucid_${layer} STATIC ${sources})
    target_link_libraries(lucid_${layer} PUBLIC lucid_flags)
    lucid_precompile(lucid_${layer})
  endif()
endforeach()

# The code of sanitizers takes long to optimize, and tests spend little of their time in these layers.
if(LUCID_SANITIZE)
  foreach(layer ops passes schedule compiler nn optim models program)
    target_compile_options(lucid_${layer} PRIVATE -O0)
  endforeach()
endif()

# Whatever the layers are linked into calls malloc by way of src/base/memory_reserve.cpp, which says why.
set(LUCID_LINK_OPTIONS -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc)
target_link_options(lucid_base INTERFACE ${LUCID_LINK_OPTIONS})

# A digest of the sources of a layer. It changes with them: CMake then runs again.
function(lucid_digest_of_sources layer result)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${layer}/*.h ${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp)
  set(digests "")
  foreach(source IN LISTS sources)
    file(SHA256 ${source} digest)
    string(APPEND digests ${digest})
  endforeach()
  string(SHA256 digest "${digests}")
  string(SUBSTRING ${digest} 0 16 digest)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  set(${result} ${digest} PARENT_SCOPE)
endfunction()

if(TARGET lucid_codegen)
  include(LucidLLVM)
endif()
if(TARGET lucid_spirv)
  include(LucidVulkan)
endif()

# Links `target` with the named layers, those that have sources, as one group: ir declares the op table that ops
# defines, so the archives refer to each other both ways.
function(lucid_link_layers target scope)
  set(libraries "")
  foreach(layer IN LISTS ARGN)
    if(TARGET lucid_${layer})
      list(APPEND libraries lucid_${layer})
    endif()
  endforeach()
  if(libraries)
    list(JOIN libraries "," libraries)
    target_link_libraries(${target} ${scope} "$<LINK_GROUP:RESCAN,${libraries}>")
  endif()
  target_link_libraries(${target} ${scope} lucid_flags)
endfunction()

add_library(lucid_all INTERFACE)
lucid_link_layers(lucid_all INTERFACE ${LUCID_LAYERS})

# Datasets are often compressed. The wheel must need nothing that a machine may lack: linked statically.
if(TARGET lucid_data)
  set(ZLIB_USE_STATIC_LIBS ON)
  find_package(ZLIB REQUIRED)
  target_link_libraries(lucid_data PUBLIC ZLIB::ZLIB)
endif()
