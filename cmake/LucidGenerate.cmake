# The code that follows from the op table and from the signatures of classes, in <build>/generated: sources, public
# headers and type stubs. A program that links nothing but the parser of signatures writes what they say to
# signatures.json, layers.json and optim.json, and tools/generate writes the code;
# docs/decisions/0015-one-signature-parser.md and 0038-layers-declared-once.md.

set(LUCID_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

# Ninja compiles in the build folder. A relative path lets ccache find what another build folder compiled.
set(include ${LUCID_GENERATED_DIR})
if(CMAKE_GENERATOR MATCHES "Ninja")
  cmake_path(RELATIVE_PATH include BASE_DIRECTORY ${CMAKE_BINARY_DIR})
endif()
target_compile_options(lucid_flags INTERFACE -I${include} -I${include}/include)

add_executable(dump_signatures ${PROJECT_SOURCE_DIR}/tools/signatures/dump.cpp
                               ${PROJECT_SOURCE_DIR}/tools/signatures/declaration.cpp)
target_include_directories(dump_signatures PRIVATE ${PROJECT_SOURCE_DIR}/tools)
foreach(name aliases scanner schema schema_json)
  target_sources(dump_signatures PRIVATE ${PROJECT_SOURCE_DIR}/src/ir/${name}.cpp)
endforeach()
target_link_libraries(dump_signatures PRIVATE lucid_base)

set(dump ${LUCID_GENERATED_DIR}/signatures.json)
file(MAKE_DIRECTORY ${LUCID_GENERATED_DIR})
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
add_custom_command(OUTPUT ${dump} COMMAND dump_signatures ${dump} ${sources} DEPENDS dump_signatures ${sources} VERBATIM)

set(layers ${LUCID_GENERATED_DIR}/layers.json)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/lucid/nn/*.h)
set(optimizers ${LUCID_GENERATED_DIR}/optim.json)
file(GLOB rules CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/optim/*.cpp)
add_custom_command(OUTPUT ${layers} COMMAND dump_signatures --classes ${layers} ${headers}
                   DEPENDS dump_signatures ${headers} VERBATIM)
add_custom_command(OUTPUT ${optimizers} COMMAND dump_signatures --classes ${optimizers} ${rules}
                   DEPENDS dump_signatures ${rules} VERBATIM)

set(generator ${PROJECT_SOURCE_DIR}/tools/generate)
file(GLOB generators CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/generators/*)
# The options in the public headers are described as in Python.
file(GLOB described CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/lucid/nn/*.py
     ${PROJECT_SOURCE_DIR}/python/lucid/optim/*.py)
set(methods ${LUCID_GENERATED_DIR}/ops/emitter_methods.cpp)
set(functions ${LUCID_GENERATED_DIR}/tensor/ops.cpp)
set(layer_types ${LUCID_GENERATED_DIR}/nn/layer_types.cpp)
set(declared ${LUCID_GENERATED_DIR}/optim/declared.cpp)
set(generated ${LUCID_GENERATED_DIR}/ir/emitter_methods.inc ${methods} ${functions} ${layer_types} ${declared})
foreach(name ops optimizers schedules)
  list(APPEND generated ${LUCID_GENERATED_DIR}/include/lucid/${name}.h)
endforeach()
foreach(header IN LISTS headers)
  file(STRINGS ${header} options REGEX "#include \"lucid/nn/options/")
  if(options)
    cmake_path(GET header FILENAME name)
    list(APPEND generated ${LUCID_GENERATED_DIR}/include/lucid/nn/options/${name})
  endif()
endforeach()
foreach(name layers optimizers schedules)
  list(APPEND generated ${LUCID_GENERATED_DIR}/tests/${name}.inc)
endforeach()
add_custom_command(OUTPUT ${generated} COMMAND ${Python_EXECUTABLE} ${generator} --sources ${PROJECT_BINARY_DIR}
                   DEPENDS ${generator} ${generators} ${described} ${dump} ${layers} ${optimizers} VERBATIM)
add_custom_target(lucid_generated DEPENDS ${generated})

target_sources(lucid_ops PRIVATE ${methods})
target_sources(lucid_nn PRIVATE ${layer_types})
target_sources(lucid_optim PRIVATE ${declared})

# Where ops are visible is known when the table is compiled.
add_executable(dump_names ${PROJECT_SOURCE_DIR}/tools/signatures/names.cpp)
lucid_link_layers(dump_names PRIVATE base ir loop ops)
set(names ${LUCID_GENERATED_DIR}/names.json)
add_custom_command(OUTPUT ${names} COMMAND dump_names ${names} DEPENDS dump_names VERBATIM)
set(tensor_methods ${LUCID_GENERATED_DIR}/tensor/methods.cpp)
set(LUCID_STUBS _core.pyi return_types.pyi __init__.pyi)
list(TRANSFORM LUCID_STUBS PREPEND ${LUCID_GENERATED_DIR}/python/)
set(generated ${LUCID_GENERATED_DIR}/include/lucid/tensor_methods.h ${tensor_methods}
              ${LUCID_GENERATED_DIR}/tests/method_calls.inc ${LUCID_STUBS})
add_custom_command(OUTPUT ${generated} COMMAND ${Python_EXECUTABLE} ${generator} --methods ${PROJECT_BINARY_DIR}
                   DEPENDS ${generator} ${generators} ${dump} ${names} ${PROJECT_SOURCE_DIR}/python/lucid/__init__.py VERBATIM)
add_custom_target(lucid_generated_methods DEPENDS ${generated})
target_sources(lucid_tensor PRIVATE ${functions} ${tensor_methods})

# The layers from `tensor` on include the methods of Tensor.
set(needed lucid_generated)
foreach(layer IN LISTS LUCID_LAYERS)
  if(layer STREQUAL "tensor")
    list(APPEND needed lucid_generated_methods)
  endif()
  if(TARGET lucid_${layer} AND NOT layer STREQUAL "base")
    add_dependencies(lucid_${layer} ${needed})
  endif()
  # liblucid_runtime.so takes some files of these layers and replaces others.
  if(NOT layer MATCHES "^(runtime|program)$")
    lucid_unite(lucid_${layer})
  endif()
endforeach()
