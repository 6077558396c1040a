# SPDX-License-Identifier: MIT
# Packages by CPack: `cmake --build build --target package` makes .debs, `--target package_source` a
# tarball. Of a component that is no package of the library's, `cmake --install` takes
# `--component tools`: nw and the simulated GPU.
include(GNUInstallDirs)
set(tools_dir ${CMAKE_INSTALL_LIBDIR}/nibblewave)
file(RELATIVE_PATH tools_from_bin /${CMAKE_INSTALL_BINDIR} /${tools_dir})
file(RELATIVE_PATH hsaco_from_tools /${tools_dir} /${CMAKE_INSTALL_DATADIR}/nibblewave/hsaco)
# nw finds the simulated GPU and kernels beside its own folder (host/hip/library.cpp, host/runtime/files.cpp).
install(TARGETS nw RUNTIME DESTINATION ${tools_dir}/bin COMPONENT tools EXCLUDE_FROM_ALL)
install(TARGETS amdhip64 hipsim_audit hiprtc LIBRARY DESTINATION ${tools_dir}/hipsim COMPONENT tools EXCLUDE_FROM_ALL)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/${CMAKE_INSTALL_BINDIR}\")
  file(CREATE_LINK ${tools_from_bin}/bin/nw \"\${prefix}/${CMAKE_INSTALL_BINDIR}/nw\" SYMBOLIC)
  file(CREATE_LINK ${hsaco_from_tools} \"\${prefix}/${tools_dir}/hsaco\" SYMBOLIC)
  foreach(file libamdhip64.so libhiprtc.so)
    foreach(major 5 6 7)
      file(CREATE_LINK \${file} \"\${prefix}/${tools_dir}/hipsim/\${file}.\${major}\" SYMBOLIC)
    endforeach()
  endforeach()" COMPONENT tools EXCLUDE_FROM_ALL)

set(CPACK_PACKAGE_NAME nibblewave)
set(CPACK_PACKAGE_VENDOR "The nibblewave authors")
set(CPACK_PACKAGE_CONTACT "The nibblewave authors <nibblewave@users.noreply.github.com>")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_SOURCE_GENERATOR TGZ)
# Regular expressions, of whole paths: the tree may lie in a folder called build.
string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." source "${CMAKE_SOURCE_DIR}")
string(REGEX REPLACE "[^A-Za-z0-9/_-]" "." binary "${CMAKE_BINARY_DIR}")
set(CPACK_SOURCE_IGNORE_FILES "^${source}/[.]git(/|$)" "^${source}/[.]ci/" "^${source}/build[^/]*/" "^${binary}/" "/__pycache__/" "/[.](pytest_)?cache/" "/(CMakeUserPresets|compile_commands)[.]json$")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL "")

# nw_package(COMPONENT NAME SUMMARY TEXT): a .deb, with what every one has to have in its documentation. TEXT: its
# lines, "; " between them.
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC) # SOURCE_DATE_EPOCH where that is set
set(folder ${CMAKE_BINARY_DIR}/packages)
file(CONFIGURE OUTPUT ${folder}/changelog CONTENT "nibblewave (${PROJECT_VERSION}) unstable; urgency=medium

  * The changes are in CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
file(CONFIGURE OUTPUT ${folder}/shlibs
     CONTENT "libnibblewave ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} libnibblewave0 (= ${PROJECT_VERSION})\n")
file(CONFIGURE OUTPUT ${folder}/triggers CONTENT "activate-noawait ldconfig\n")
function(nw_package component name summary text)
  string(REPLACE "; " "\n" text "${text}")
  string(TOUPPER ${component} key)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_COMPONENT_${key}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${doc} RENAME copyright COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(CODE "
    set(doc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc}\")
    file(MAKE_DIRECTORY \"\${doc}\")
    execute_process(COMMAND gzip -9nc ${folder}/changelog OUTPUT_FILE \"\${doc}/changelog.gz\" COMMAND_ERROR_IS_FATAL ANY)
    " COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

nw_package(library libnibblewave0 "products with 4-bit weights on AMD RDNA GPUs"
  "A C library that chooses a kernel, checks every argument and launches it; on a stream of HIP. Kernels are packages of their own.")
nw_package(dev libnibblewave-dev "headers of nibblewave"
  "Headers, and files for CMake and pkg-config, of a C library for products; with 4-bit weights on AMD RDNA GPUs.")
nw_package(tools nibblewave-tools "tools of nibblewave, and a simulated GPU"
  "nw packs checkpoints, chooses, times and explains kernels. The simulated; RDNA GPU is a libamdhip64.so that runs programs without a card.")
# The pages of nw, with its name as it is installed, and its manual page.
foreach(page README.md annotate/README.md check/README.md lint/README.md new/README.md)
  file(READ ${CMAKE_SOURCE_DIR}/host/nw/${page} text)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/host/nw/${page})
  string(REPLACE "build/bin/nw" "nw" text "${text}")
  file(CONFIGURE OUTPUT ${folder}/pages/${page} CONTENT "@text@" @ONLY)
endforeach()
install(DIRECTORY ${folder}/pages/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/nibblewave-tools/nw COMPONENT tools EXCLUDE_FROM_ALL)
install(CODE "
  set(man \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1\")
  file(MAKE_DIRECTORY \"\${man}\")
  execute_process(COMMAND \${CMAKE_COMMAND} -DNW=$<TARGET_FILE:nw> -DVERSION=${PROJECT_VERSION} -DOUTPUT=\${man}/nw.1
                          -P ${CMAKE_SOURCE_DIR}/host/nw/man.cmake COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND gzip -9nf \"\${man}/nw.1\" COMMAND_ERROR_IS_FATAL ANY)
  " COMPONENT tools EXCLUDE_FROM_ALL)
set(kernel_packages "")
foreach(generation ${nibblewave_generations})
  nw_package(kernels-${generation} nibblewave-kernels-${generation} "kernels of nibblewave for ${generation}"
    "Code objects for GPUs whose target begins with ${generation}, in assembly; by hand: products with 4-bit weights, and attention.")
  list(APPEND kernel_packages nibblewave-kernels-${generation})
  # Code objects are ELF files of a GPU: the same on every host, and without a libc to need.
  set(package nibblewave-kernels-${generation})
  set(overrides "")
  foreach(tag arch-independent-package-contains-binary-or-object arch-dependent-file-in-usr-share
              unstripped-binary-or-object shared-library-lacks-prerequisites)
    string(APPEND overrides "${package}: ${tag}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/${generation} CONTENT "${overrides}")
  install(FILES ${folder}/${generation} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME ${package}
          COMPONENT kernels-${generation} EXCLUDE_FROM_ALL)
  string(TOUPPER KERNELS-${generation} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_ARCHITECTURE all)
endforeach()
list(JOIN kernel_packages " | " any_kernels)

set(same "(= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${any_kernels}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${folder}/triggers;${folder}/shlibs")
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libnibblewave0 ${same}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "${any_kernels}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "clang")
include(CPack)
