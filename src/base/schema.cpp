// SPDX-License-Identifier: Apache-2.0
#include "base/schema.hpp"

namespace accelopt::base {

Result<void> check_schema(const Json& object, int newest, std::string_view what) {
  const auto schema = object.find("schema");
  if (schema == object.end()) return {};
  if (!schema->is_number_integer() || *schema < 1)
    return fail(ErrorCode::corrupt, std::string(what) + ": schema " + canonical(*schema) + " is no version");
  if (*schema <= newest) return {};
  return fail(ErrorCode::unsupported, std::string(what) + ": schema " + canonical(*schema) +
                                          " is newer than this program, which reads up to " + std::to_string(newest) +
                                          "; use a newer accelopt");
}

}  // namespace accelopt::base
