# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=python/accelopt_capture -DNAMES=a.py,b.py -DOUTPUT=package_files.cpp -P embed_package.cmake
# Writes a C++ file that holds the named text files.
set(delimiter "ACCELOPT")
set(text "// Generated from python/accelopt_capture by embed_package.cmake.\n#include \"capture/package.hpp\"\n\n#include <array>\n\n")
string(APPEND text "namespace accelopt::capture {\nnamespace {\n\nconstexpr auto kFiles = std::to_array<PackageFile>({\n")
string(REPLACE "," ";" names "${NAMES}")
foreach(name IN LISTS names)
  file(READ "${FOLDER}/${name}" content)
  string(FIND "${content}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${name} holds the text )${delimiter}\", which ends a raw string")
  endif()
  string(APPEND text "    {\"${name}\", R\"${delimiter}(${content})${delimiter}\"},\n")
endforeach()
string(APPEND text "});\n\n}  // namespace\n\n")
string(APPEND text "std::span<const PackageFile> package_files() { return kFiles; }\n\n}  // namespace accelopt::capture\n")
file(WRITE "${OUTPUT}" "${text}")
