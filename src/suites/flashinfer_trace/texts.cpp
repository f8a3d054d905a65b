// SPDX-License-Identifier: Apache-2.0
#include "suites/flashinfer_trace/texts.hpp"

#include <cctype>

#include "base/text.hpp"

namespace accelopt::suites::flashinfer_trace {
namespace {

/// The text as comments of one line each. Whatever it holds stays a comment: no line of it goes on in the next.
std::string as_comment(const std::string& text) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    const bool goes_on = line.ends_with('\\') || line.ends_with("?\?/");
    out += line.empty() ? "//\n" : "// " + line + (goes_on ? " ." : "") + "\n";
    line.clear();
  };
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '\n' || letter == '\r') {
      end_line();
    } else {
      line += code < 0x20 || code > 0x7e ? (letter == '\t' ? ' ' : '?') : letter;
    }
  }
  if (!line.empty()) end_line();
  return out;
}

std::string signature(const model::Definition& definition) {
  const auto type = [](const model::TensorSpec& tensor) {
    return model::is_floating(tensor.dtype) ? std::string("real") : std::string(model::c_name(tensor.dtype));
  };
  std::vector<std::string> parameters;
  for (const model::TensorSpec& input : definition.inputs)
    parameters.push_back((input.shape ? "const " + type(input) + "* " : type(input) + " ") + input.name);
  for (const model::TensorSpec& output : definition.outputs) parameters.push_back(type(output) + "* " + output.name);
  for (const std::string& axis : variable_axes(definition)) parameters.push_back("int64_t " + axis);
  std::string out = "extern \"C\" void reference(";
  const std::string indent(out.size(), ' ');
  return out + base::joined(parameters, ",\n" + indent) + ")";
}

}  // namespace

std::string open_reference(const model::Definition& definition, const std::string& python) {
  return "// What " + base::ascii_line(definition.name, 120) +
         " computes, over the type `real`: clear and slow is right. Its Python stands below and in reference.py.\n"
         "#include <cmath>\n\n#include \"task.h\"\n\n" +
         "#error \"write what the Python below computes, then remove this line\"\n" + signature(definition) +
         " {\n}\n\n" + as_comment(python);
}

std::string open_baseline(const model::Definition& definition) {
  return "// The kernel to beat: " + base::ascii_line(definition.name, 120) +
         ", in CUDA C++ with //@ launch lines. A plain one will do.\n"
         "#error \"write the kernel to beat, then remove this line\"\n";
}

}  // namespace accelopt::suites::flashinfer_trace
