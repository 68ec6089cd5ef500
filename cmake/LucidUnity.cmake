# Compiles the sources of a target in few translation units: most of a unit's text are headers, which are then parsed
# once for many sources. For builds from nothing; on a checkout that changes, a unit for each source builds less.

option(LUCID_UNITY "Compile many sources in one translation unit" OFF)
set(LUCID_UNITY_SOURCES 12)

# Tests have op tables of their own (tests/added_op), so the table is an object file of its own in its archive.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ops/op_table.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION TRUE)

# Call it when the target has all its sources, and they have their properties.
function(lucid_unite target)
  if(NOT LUCID_UNITY OR NOT TARGET ${target})
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(apart "")
  set(units "")
  set(text "")
  set(count 0)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    get_source_file_property(is_apart ${source} SKIP_UNITY_BUILD_INCLUSION)
    if(options OR definitions OR is_apart OR NOT source MATCHES "^${PROJECT_SOURCE_DIR}/.*\\.cpp$"
       OR source MATCHES "^${PROJECT_BINARY_DIR}/")
      list(APPEND apart ${source})
      continue()
    endif()
    list(LENGTH units unit)
    set(unit ${PROJECT_BINARY_DIR}/unity/${target}_${unit}.cpp)
    # Relative, so that ccache finds what was compiled in another checkout.
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_BINARY_DIR}/unity)
    string(APPEND text "#include \"${source}\"\n")
    math(EXPR count "${count} + 1")
    if(count EQUAL LUCID_UNITY_SOURCES)
      file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
      list(APPEND units ${unit})
      set(text "")
      set(count 0)
    endif()
  endforeach()
  if(count)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    list(APPEND units ${unit})
  endif()
  set_property(TARGET ${target} PROPERTY SOURCES ${units} ${apart})
endfunction()
