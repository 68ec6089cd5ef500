# liblucid.so: all layers and LLVM in one library, of which only the names that include/lucid declares can be seen. The
# target is lucid::lucid, here and after `cmake --install` and `find_package(lucid)`.

include(CMakePackageConfigHelpers)

# Objects, not archives: --exclude-libs hides everything that comes from an archive, LLVM's names but not ours.
set(objects "")
foreach(layer IN LISTS LUCID_LAYERS)
  if(TARGET lucid_${layer})
    list(APPEND objects $<TARGET_OBJECTS:lucid_${layer}>)
  endif()
endforeach()

add_library(lucid SHARED ${objects})
add_library(lucid::lucid ALIAS lucid)
target_link_libraries(lucid PRIVATE lucid_flags ${LUCID_LLVM_LIBRARIES} ZLIB::ZLIB)
target_link_options(lucid PRIVATE ${LUCID_LINK_OPTIONS})
lucid_hide_symbols(lucid shared_library.map)
target_include_directories(lucid INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${LUCID_GENERATED_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(lucid INTERFACE cxx_std_20)
set_target_properties(lucid PROPERTIES
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS lucid EXPORT lucid-targets COMPONENT cpp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/lucid ${LUCID_GENERATED_DIR}/include/lucid
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lucid)
install(EXPORT lucid-targets NAMESPACE lucid:: FILE lucid-config.cmake DESTINATION ${package_dir} COMPONENT cpp)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lucid-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lucid-config-version.cmake DESTINATION ${package_dir} COMPONENT cpp)
