// SPDX-License-Identifier: Apache-2.0
// Runs a language model: model [FILE.gguf [PROMPT]]. Without a file, random weights in a true
// shape.
#include <cstdio>
#include <span>

#include <rooftile/rooftile.h>

int main(int argc, char** argv) try {
  const auto device = rooftile::open_device("cpu");
  const auto model = rooftile::Model::open(argc > 1 ? argv[1] : "synthetic:smollm2-135m", *device);
  rooftile::Runner runner(*model, *device, rooftile::catalogue(), {.tokens = 1024});

  rooftile::StreamDecoder text(model->tokenizer());
  const rooftile::Request request{
      .prompt = model->tokenizer().encode(argc > 2 ? argv[2] : "Once upon a time"),
      .max_tokens = 16,
      .end_ids = model->end_ids(),
      .on_token =
          [&](std::int32_t token) {
            std::fputs(text.push(token).c_str(), stdout);
            return false;  // go on
          },
  };
  rooftile::CleanRun times;
  const auto done = runner.generate(std::span(&request, 1), times).front();
  std::printf("\n%zu tokens, ended by %s\n", done.tokens.size(),
              std::string(rooftile::name(done.finish)).c_str());
  return 0;
} catch (const rooftile::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
