# SPDX-License-Identifier: Apache-2.0
# cmake -DFOLDER=prompts -DNAMES=cpp/a.txt,cpp/b.txt -DOUTPUT=builtin_prompts.cpp -P embed_prompts.cmake
# Writes a C++ file that holds the named text files.
set(delimiter "ACCELOPT")
set(text "// Generated from prompts/ by embed_prompts.cmake.\n#include \"agents/builtin_prompts.hpp\"\n\n#include <array>\n\n")
string(APPEND text "namespace accelopt::agents {\nnamespace {\n\nconstexpr auto kFiles = std::to_array<BuiltinPrompt>({\n")
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
string(APPEND text "std::span<const BuiltinPrompt> builtin_prompts() { return kFiles; }\n\n}  // namespace accelopt::agents\n")
file(WRITE "${OUTPUT}" "${text}")
