# SPDX-License-Identifier: MIT
# libnibblewave.so, the C API, and what `cmake --install` puts where. Its sources are compiled once
# more, hidden and with {fmt} inside, so that a program gets nothing from it but nw_*, and needs
# nothing for it but libstdc++.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
find_package(Threads REQUIRED)

set(sources api.cpp api_context.cpp api_error.cpp api_gguf.cpp api_gguf_moe.cpp api_moe.cpp carriers.cpp choice.cpp decode.cpp files.cpp force.cpp gguf.cpp gguf_choice.cpp gguf_linear.cpp gguf_mid.cpp gguf_moe.cpp gguf_moe_linear.cpp gguf_operands.cpp gguf_prefill.cpp kernarg.cpp linear.cpp modules.cpp moe.cpp moe_align.cpp
            operands.cpp prefill.cpp registry.cpp rules.cpp tile.cpp ../formats/row_stride.cpp)
get_target_property(hip_sources nw_hip SOURCES)
list(TRANSFORM hip_sources PREPEND ../hip/)

add_library(nibblewave SHARED ${sources} ${hip_sources})
set_target_properties(nibblewave PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} # 0.x: a minor version may break
  CXX_VISIBILITY_PRESET hidden
  VISIBILITY_INLINES_HIDDEN ON
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/library.map)
target_include_directories(nibblewave
  PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
  PRIVATE ${CMAKE_BINARY_DIR})
target_include_directories(nibblewave SYSTEM PRIVATE ${HIP_INCLUDE_DIR})
target_compile_options(nibblewave PRIVATE -Wno-deprecated-declarations -ffunction-sections -fdata-sections
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>) # g++ 12 sees some in {fmt} that are none
target_link_libraries(nibblewave PRIVATE fmt::fmt-header-only Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(nibblewave PRIVATE
  LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/library.map LINKER:--no-undefined
  LINKER:--gc-sections) # host/hip can open devices by name, too

math(EXPR version "${PROJECT_VERSION_MAJOR} * 10000 + ${PROJECT_VERSION_MINOR} * 100 + ${PROJECT_VERSION_PATCH}")
set(installed_hsaco ${CMAKE_INSTALL_DATADIR}/nibblewave/hsaco)
file(RELATIVE_PATH from_library /${CMAKE_INSTALL_LIBDIR} /${installed_hsaco})
target_compile_definitions(nibblewave PRIVATE
  NW_PROJECT_VERSION=${version} NW_INSTALLED_HSACO="${from_library}"
  NW_BUILD_HIPSIM="") # HIP is whatever the caller has

# ---- install

install(TARGETS nibblewave EXPORT nibblewave LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES nibblewave.h nibblewave_ggml.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/hsaco/ DESTINATION ${installed_hsaco})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nibblewave)
install(EXPORT nibblewave FILE nibblewave-config.cmake NAMESPACE nibblewave:: DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/nibblewave-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nibblewave-config-version.cmake DESTINATION ${package_dir})

# The prefix is where the file lies, so an installed tree may be moved.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(nibblewave.pc.in nibblewave.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nibblewave.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
