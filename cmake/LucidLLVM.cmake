# LLVM, linked statically into src/codegen and visible to nothing else. Only what ORC's LLJIT needs on x86-64.

# LLVM's version file accepts only its own minor version, and each minor version of 22 serves: so check the major here.
find_package(LLVM REQUIRED CONFIG HINTS /usr/lib/llvm-22)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Lucid needs LLVM 22, found ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}; set LLVM_DIR to that of LLVM 22")
endif()
llvm_map_components_to_libnames(LUCID_LLVM_LIBRARIES orcjit x86codegen x86desc x86info native)

target_include_directories(lucid_codegen SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
separate_arguments(LUCID_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(lucid_codegen PRIVATE ${LUCID_LLVM_DEFINITIONS})
target_link_libraries(lucid_codegen PRIVATE ${LUCID_LLVM_LIBRARIES})
if(NOT LLVM_ENABLE_RTTI)
  target_compile_options(lucid_codegen PRIVATE -fno-rtti)
endif()
