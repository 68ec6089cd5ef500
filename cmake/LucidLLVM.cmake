# LLVM, linked statically into src/codegen and visible to nothing else. Only the x86 back end: no passes,
# no parsers, no linker.

# The wheel must need nothing that a machine may lack, so LLVM's own dependencies are linked statically too.
set(ZLIB_USE_STATIC_LIBS ON)

# LLVM's version file accepts only its own minor version, and each minor version of 22 serves: so check the major here.
find_package(LLVM REQUIRED CONFIG HINTS /usr/lib/llvm-22)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Lucid needs LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; set LLVM_DIR to that of LLVM 22")
endif()

# Debian's LLVM also names libz3, which only its static analyser would use.
get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
list(FILTER libraries EXCLUDE REGEX "z3")
if(TARGET zstd::libzstd_static)
  list(TRANSFORM libraries REPLACE "zstd::libzstd_shared" "zstd::libzstd_static")
endif()
set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")

llvm_map_components_to_libnames(LUCID_LLVM_LIBRARIES x86codegen x86desc x86info)

target_include_directories(lucid_codegen SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
separate_arguments(LUCID_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(lucid_codegen PRIVATE ${LUCID_LLVM_DEFINITIONS})
target_link_libraries(lucid_codegen PRIVATE ${LUCID_LLVM_LIBRARIES})
# LLVM's headers poison memory pools when compiled with the address sanitizer, but its Debian libraries, which share the
# pools, do not: so this one folder is left out of it.
if(LUCID_SANITIZE MATCHES "address")
  target_compile_options(lucid_codegen PRIVATE -fno-sanitize=address)
endif()
# Generated code has no type in front of a function's first instruction, where this check reads it before each call.
if(LUCID_SANITIZE MATCHES "undefined")
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/runtime/plan.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=function)
endif()
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(lucid_codegen PRIVATE -fno-rtti)
endif()

# Object code kept on disk must not outlive a change of the generator, so its sources are part of what names the files.
lucid_digest_of_sources(codegen digest)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/codegen/llvm_generator.cpp
  PROPERTIES COMPILE_DEFINITIONS LUCID_CODEGEN_DIGEST="${digest}")
