// SPDX-License-Identifier: Apache-2.0
// A program of a user: opens the cpu, prints what it is, and checks what crosses the library's
// boundary (data, exceptions).
#include <rooftile/base/error.h>
#include <rooftile/core/dtype.h>
#include <rooftile/device/device.h>
#include <cstdio>

namespace {

// Why: the type of an exception must be one and the same on both sides of the shared library.
bool bad_name_is_refused() {
  try {
    (void)rooftile::parse_dtype("no such type");
  } catch (const rooftile::Error& error) {
    std::printf("as it should: %s\n", error.what());
    return true;
  }
  return false;
}

bool names_read_back() {
  for (const rooftile::DTypeInfo& dtype : rooftile::dtypes())
    if (rooftile::parse_dtype(dtype.name) != dtype.dtype) return false;
  return !rooftile::dtypes().empty();
}

}  // namespace

int main() {
  const auto device = rooftile::open_device("cpu");
  const rooftile::DeviceProperties& properties = device->properties();
  std::printf("%s: %s (%s), %d compute units\n", properties.id.c_str(), properties.name.c_str(),
              properties.kind.c_str(), properties.compute_units);
  const bool ok = properties.id == "cpu" && properties.compute_units > 0 && names_read_back() &&
                  bad_name_is_refused();
  std::puts(ok ? "consumer: ok" : "consumer: FAILED");
  return ok ? 0 : 1;
}
