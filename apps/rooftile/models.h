// SPDX-License-Identifier: Apache-2.0
// What the verbs that run a model share: their options, opening it, and its requests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/rooftile/cli.h"
#include "rooftile/model/runner.h"

namespace rooftile::cli {

/// --activations and --kv: how a model is run; and --chunk, which `check` chooses itself.
std::vector<ArgOption> model_options();
ArgOption chunk_option();
/// --prompt, --prompt-file, --chat, --system, --max-tokens: what it is asked.
std::vector<ArgOption> prompt_options();

/// The model that the first word names, opened. Throws Error(bad_input) when there is not exactly
/// one word.
std::unique_ptr<Model> open_model(Session& session);

/// The text of --prompt (of standard input for "-") or of --prompt-file.
std::string prompt_text(const Session& session);

/// Its tokens, as a conversation with --chat.
std::vector<std::int32_t> prompt_tokens(const Session& session, const Model& model);

/// A runner for one sequence: a prompt of `prompt` tokens, and room for `others` beside it. The
/// prompt is cut into equal passes of at most --chunk tokens: as many as with full ones, and the
/// memory between operations is smaller. `activations`: where --activations does not say.
std::unique_ptr<Runner> make_runner(Session& session, const Model& model, std::int64_t prompt,
                                    std::int64_t others, const std::string& activations);

/// "16 hex digits": FNV-1a over the ids, for comparing runs.
std::string hash_of(const std::vector<std::int32_t>& ids);

/// The command's options that model_options() and prompt_options() hold, to repeat it.
std::string model_command(const Session& session, const std::string& verb);

}  // namespace rooftile::cli
