# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=kernels -DOUTPUT=builtin_kernels.cpp -P embed_kernels.cmake
# Writes a C++ file that holds the trusted kernels: elements.cuh as elements_text(), input_kernels.cu as
# input_kernels_text(), and so on.
set(text "// Generated from kernels/ by embed_kernels.cmake.\n#include \"devices/cuda/builtin_kernels.hpp\"\n\n")
string(APPEND text "namespace accelopt::devices::cuda {\n\n")
foreach(file elements.cuh input_kernels.cu check_kernels.cu peak_kernels.cu)
  get_filename_component(name ${file} NAME_WE)
  file(READ "${FOLDER}/${file}" content)
  string(FIND "${content}" ")ACCELOPT\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} holds a text that ends a raw string")
  endif()
  string(APPEND text "std::string_view ${name}_text() {\n  return R\"ACCELOPT(${content})ACCELOPT\";\n}\n\n")
endforeach()
string(APPEND text "}  // namespace accelopt::devices::cuda\n")
file(WRITE "${OUTPUT}" "${text}")
