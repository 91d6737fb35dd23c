// SPDX-License-Identifier: Apache-2.0
// sample_profile FOLDER [MODEL_NAME]: the made-up request in every form, for tests of those forms:
// profile.json, trace.json, report.html and summary.txt.
#include <cstdio>
#include <exception>
#include <string>

#include "rooftile/base/file.h"
#include "rooftile/workbench/chrome_trace.h"
#include "rooftile/workbench/profile_html.h"
#include "rooftile/workbench/profile_json.h"
#include "rooftile/workbench/profile_sample.h"
#include "rooftile/workbench/profile_text.h"

namespace {

void write_forms(const std::string& folder, const char* name) {
  using namespace rooftile;
  Profile profile = sample::profile();
  if (name != nullptr) profile.model.name = name;
  replace_file(folder + "/profile.json", profile_json(profile));
  replace_file(folder + "/trace.json",
               chrome_trace(profile.model, sample::timeline(), profile.device.description));
  replace_file(folder + "/report.html", profile_html(profile));
  replace_file(folder + "/summary.txt", profile_text(profile));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    write_forms(argv[1], argc > 2 ? argv[2] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sample_profile: %s\n", error.what());
    return 2;
  }
}
