// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/generate.h"

#include <algorithm>
#include <ctime>
#include <deque>

#include "rooftile/base/error.h"
#include "rooftile/model/program.h"

namespace rooftile {
namespace {

// What this thread has computed so far: stands still while others have its processor.
double thread_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Of four decode passes the middle two: so neither kind is always the later one of a pair, whose
// context is longer.
bool is_captured_turn(std::size_t pass) { return pass % 4 == 1 || pass % 4 == 2; }

// A request under way.
struct Active {
  const Request* request;
  Completion* completion;
  Sequence sequence;
  std::vector<std::int32_t> next;  // tokens not computed yet; all but one are the prompt's
};

class Run {
 public:
  Run(Transformer& transformer, Stream& stream, CleanRun& times, Recording* recording,
      bool is_in_turns = false)
      : transformer_(transformer),
        stream_(stream),
        times_(times),
        recording_(recording),
        is_in_turns_(is_in_turns),
        sampler_(stream.device(), transformer.options().most_sequences) {}
  ~Run() {
    for (Active& active : active_) transformer_.cache().release(active.sequence);
  }

  void start(const Request& request, Completion& completion) {
    if (request.prompt.empty()) fail_input("a request needs a prompt of at least one token");
    Active active{&request, &completion, transformer_.cache().start(request.prompt), {}};
    completion.cached_tokens = active.sequence.length();
    active.next.assign(request.prompt.begin() + completion.cached_tokens, request.prompt.end());
    active_.push_back(std::move(active));
    prefill(active_.back());
    retire(active_.size() - 1);
  }

  // One more token of every sequence.
  void step() {
    std::vector<PassInput> inputs;
    for (Active& active : active_) inputs.push_back({&active.sequence, active.next, 1});
    const auto count = static_cast<std::int64_t>(inputs.size());
    transformer_.prepare(count, count, count);
    const double begin = now_us();
    const double begin_on_thread = thread_us();
    accept(pass("decode", inputs), 0);
    thread_us_.push_back(thread_us() - begin_on_thread);
    times_.decode_us.push_back(now_us() - begin);
    times_.decode_tokens += static_cast<std::int64_t>(inputs.size());
    retire(0);
  }

  [[nodiscard]] std::size_t num_active() const { return active_.size(); }
  /// Of each decode pass, the time that this thread computed.
  [[nodiscard]] const std::vector<double>& thread_times_us() const { return thread_us_; }

 private:
  TensorView pass(const char* phase, std::span<const PassInput> inputs) {
    if (recording_ == nullptr || (is_in_turns_ && !is_captured_turn(times_.decode_us.size())))
      return transformer_.forward(stream_, inputs);
    return transformer_.forward(stream_, inputs, *recording_, phase);
  }

  void prefill(Active& active) {
    prepare_chunks(static_cast<std::int64_t>(active.next.size()));
    const double begin = now_us();
    times_.prefill_tokens += static_cast<std::int64_t>(active.next.size());
    TensorView logits;
    const auto most = static_cast<std::size_t>(transformer_.options().most_tokens);
    for (std::size_t at = 0; at < active.next.size(); at += most) {
      const std::size_t count = std::min(most, active.next.size() - at);
      const auto first = active.next.begin() + static_cast<std::ptrdiff_t>(at);
      const bool is_last = at + count == active.next.size();
      const PassInput input{
          &active.sequence, {first, first + static_cast<std::ptrdiff_t>(count)}, is_last ? 1 : 0};
      logits = pass("prefill", std::span(&input, 1));
    }
    transformer_.cache().publish(active.sequence);
    accept(logits, active_.size() - 1);
    times_.prefill_us += now_us() - begin;
  }

  // The shapes of a prompt's passes: whole chunks, and a last one with logits.
  void prepare_chunks(std::int64_t tokens) {
    const std::int64_t most = transformer_.options().most_tokens;
    const std::int64_t last = (tokens - 1) % most + 1;
    if (tokens > last) transformer_.prepare(most, 1, 0);
    transformer_.prepare(last, 1, 1);
  }

  // Draws the next token of the sequences from `first` on, whose logits these are.
  void accept(const TensorView& logits, std::size_t first) {
    std::vector<Sampling> settings;
    std::vector<std::span<const std::int32_t>> history;
    for (std::size_t i = first; i < active_.size(); ++i) {
      settings.push_back(active_[i].request->sampling);
      history.emplace_back(active_[i].sequence.tokens);
    }
    const std::span<const std::int32_t> drawn = sampler_.draw(stream_, logits, settings, history);
    for (std::size_t i = first; i < active_.size(); ++i) {
      if (drawn[i - first] < 0)
        throw Error(ErrorCode::internal, "no token can be drawn: the logits hold NaN or infinity");
      active_[i].next = {drawn[i - first]};
    }
  }

  // Whether the drawn token ends its sequence; appends it to the completion unless it is an end.
  bool has_ended(Active& active) const {
    const std::int32_t token = active.next.front();
    Completion& done = *active.completion;
    if (std::ranges::find(active.request->end_ids, token) != active.request->end_ids.end()) {
      done.finish = Finish::end_token;
      return true;
    }
    if (active.request->max_tokens <= 0) return true;
    done.tokens.push_back(token);
    const bool is_stopped = active.request->on_token && active.request->on_token(token);
    if (is_stopped) done.finish = Finish::stopped;
    if (is_stopped) return true;
    if (static_cast<std::int64_t>(done.tokens.size()) >= active.request->max_tokens) return true;
    if (active.sequence.length() + 1 > transformer_.config().context) {
      done.finish = Finish::context;
      return true;
    }
    return false;
  }

  // Judges the tokens just drawn, those of the sequences from `first` on.
  void retire(std::size_t first) {
    const auto drawn = active_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto ended = std::remove_if(drawn, active_.end(), [&](Active& active) {
      if (!has_ended(active)) return false;
      transformer_.cache().publish(active.sequence);
      transformer_.cache().release(active.sequence);
      return true;
    });
    active_.erase(ended, active_.end());
  }

  Transformer& transformer_;
  Stream& stream_;
  CleanRun& times_;
  Recording* recording_;
  bool is_in_turns_;  // or all passes are captured
  std::vector<double> thread_us_{};
  Sampler sampler_;
  std::deque<Active> active_;
};

}  // namespace

std::string_view name(Finish finish) {
  switch (finish) {
    case Finish::end_token:
      return "end token";
    case Finish::max_tokens:
      return "max tokens";
    case Finish::context:
      return "context";
    case Finish::stopped:
      return "stopped";
  }
  return "unknown";
}

std::vector<Completion> generate(Transformer& transformer, Stream& stream,
                                 std::span<const Request> requests, CleanRun& times,
                                 Timeline* capture) {
  std::vector<Completion> completions(requests.size());
  const auto most = static_cast<std::size_t>(transformer.options().most_sequences);
  Recording recording;
  for (std::size_t first = 0; first < requests.size(); first += most) {
    Run run(transformer, stream, times, capture == nullptr ? nullptr : &recording);
    for (std::size_t i = first; i < std::min(first + most, requests.size()); ++i)
      run.start(requests[i], completions[i]);
    while (run.num_active() > 0) run.step();
  }
  if (capture != nullptr) recording.append_to(*capture, stream.device().properties());
  return completions;
}

void generate_in_turns(Transformer& transformer, Stream& stream, const Request& request,
                       std::vector<CapturePair>& pairs) {
  CleanRun times;
  Recording recording;
  Completion completion;
  Run run(transformer, stream, times, &recording, true);
  run.start(request, completion);
  while (run.num_active() > 0) run.step();
  const std::vector<double>& us = run.thread_times_us();
  for (std::size_t i = 0; i + 1 < us.size(); i += 2) {
    const std::size_t captured = is_captured_turn(i) ? i : i + 1;
    const std::size_t clean = captured == i ? i + 1 : i;
    pairs.push_back({us[clean], us[captured]});
  }
}

}  // namespace rooftile
