// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rooftile::struct_test {

struct Narrow {
  char tag;
  // three bytes
  int value;
};

struct Wide {
  int first;
  // four bytes
  double value;
  int last;
  // four bytes
};

}  // namespace rooftile::struct_test
