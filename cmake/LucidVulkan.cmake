# The headers of SPIR-V and Vulkan. Nothing is linked: libvulkan.so.1 is loaded when the first gpu is used.

find_path(LUCID_SPIRV_INCLUDE_DIR spirv/unified1/spirv.hpp11 REQUIRED)
mark_as_advanced(LUCID_SPIRV_INCLUDE_DIR)
target_include_directories(lucid_spirv SYSTEM PRIVATE ${LUCID_SPIRV_INCLUDE_DIR})

if(TARGET lucid_device)
  find_path(LUCID_VULKAN_INCLUDE_DIR vulkan/vulkan_core.h REQUIRED)
  mark_as_advanced(LUCID_VULKAN_INCLUDE_DIR)
  target_include_directories(lucid_device SYSTEM PRIVATE ${LUCID_VULKAN_INCLUDE_DIR})
  target_link_libraries(lucid_device PRIVATE ${CMAKE_DL_LIBS})

  # Shaders kept on disk must not outlive a change of the translator.
  lucid_digest_of_sources(spirv digest)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/gpu_code.cpp
    PROPERTIES COMPILE_DEFINITIONS LUCID_SPIRV_DIGEST="${digest}")
endif()
