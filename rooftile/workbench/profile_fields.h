// SPDX-License-Identifier: Apache-2.0
// The fields of a profile, listed once: writing and reading are two visitors over them. A visitor
// takes (key, field); what may be negative goes through `visit.any`.
#pragma once

#include <concepts>
#include <type_traits>

#include "rooftile/workbench/profile.h"

namespace rooftile {

template <class M, class V>
  requires std::same_as<std::remove_const_t<M>, ProfiledModel>
void visit_fields(M& m, V& visit) {
  visit("name", m.name);
  visit("architecture", m.architecture);
  visit("command", m.command);
  visit("is_synthetic", m.is_synthetic);
  visit("parameters", m.parameters);
  visit("weight_bytes", m.weight_bytes);
  visit("weight_bytes_per_token", m.weight_bytes_per_token);
  visit("kv_bytes_per_token", m.kv_bytes_per_token);
  visit("layers", m.layers);
  visit("context", m.context);
}

template <class D, class V>
  requires std::same_as<std::remove_const_t<D>, ProfiledDevice>
void visit_fields(D& d, V& visit) {
  visit("description", d.description);
  visit("last_level_cache_bytes", d.last_level_cache_bytes);
}

template <class Q, class V>
  requires std::same_as<std::remove_const_t<Q>, Quantiles>
void visit_fields(Q& q, V& visit) {
  visit("median", q.median);
  visit("p10", q.p10);
  visit("p90", q.p90);
  visit("n", q.n);
}

template <class R, class V>
  requires std::same_as<std::remove_const_t<R>, ProfileRow>
void visit_fields(R& r, V& visit) {
  visit("name", r.name);
  visit("op", r.op);
  visit("problem", r.problem);
  visit("calls", r.calls);
  visit("unproven_calls", r.unproven_calls);
  visit("time_us", r.time_us);
  visit("share_percent", r.share_percent);
  visit("bytes", r.bytes);
  visit("ops", r.ops);
  visit("gbytes_per_s", r.gbytes_per_s);
  visit("gflops", r.gflops);
  visit("intensity", r.intensity);
  visit("bound", r.bound);
  visit("attainable", r.attainable);
  visit("percent_of_roof", r.percent_of_roof);
  visit("roof_us", r.roof_us);
  visit("lost_us", r.lost_us);
}

template <class E, class V>
  requires std::same_as<std::remove_const_t<E>, ShownEvent>
void visit_fields(E& e, V& visit) {
  visit("kernel", e.kernel);
  visit("role", e.role);
  visit("problem", e.problem);
  visit.any("layer", e.layer);
  visit.any("thread", e.thread);
  visit("start_us", e.start_us);
  visit("time_us", e.time_us);
  visit("bytes", e.bytes);
  visit("ops", e.ops);
}

template <class P, class V>
  requires std::same_as<std::remove_const_t<P>, ShownPass>
void visit_fields(P& p, V& visit) {
  visit("index", p.index);
  visit("tokens", p.tokens);
  visit("time_us", p.time_us);
  visit("events", p.events);
}

template <class C, class V>
  requires std::same_as<std::remove_const_t<C>, CaptureCost>
void visit_fields(C& c, V& visit) {
  visit.any("percent", c.percent);
  visit.any("low_percent", c.low_percent);
  visit.any("high_percent", c.high_percent);
  visit("pairs", c.pairs);
}

template <class P, class V>
  requires std::same_as<std::remove_const_t<P>, ProfilePhase>
void visit_fields(P& p, V& visit) {
  visit("name", p.name);
  visit("passes", p.passes);
  visit("tokens", p.tokens);
  visit("operations", p.operations);
  visit("captured_us", p.captured_us);
  visit("busy_us", p.busy_us);
  visit("gap_us", p.gap_us);
  visit("gap_us_an_operation", p.gap_us_an_operation);
  visit("roof_us", p.roof_us);
  visit("clean_us", p.clean_us);
  visit("tokens_per_s", p.tokens_per_s);
  visit("clean_pass_us", p.clean_pass_us);
  visit("capture_cost", p.capture_cost);
  visit("clean_gap_us_a_pass", p.clean_gap_us_a_pass);
  visit("mfu_percent", p.mfu_percent);
  visit("mfu_unit", p.mfu_unit);
  visit("kernels", p.kernels);
  visit("roles", p.roles);
  visit("shown", p.shown);
}

template <class D, class V>
  requires std::same_as<std::remove_const_t<D>, DecodeArithmetic>
void visit_fields(D& d, V& visit) {
  visit("batch", d.batch);
  visit("weight_bytes", d.weight_bytes);
  visit("kv_bytes", d.kv_bytes);
  visit("ops", d.ops);
  visit("intensity", d.intensity);
  visit("read_bytes_per_s", d.read_bytes_per_s);
  visit("floor_us", d.floor_us);
  visit("floor_tokens_per_s", d.floor_tokens_per_s);
  visit("context", d.context);
  visit("unit", d.unit);
  visit("ridge", d.ridge);
  visit("compute_bound_batch", d.compute_bound_batch);
  visit("percent_of_floor", d.percent_of_floor);
}

template <class F, class V>
  requires std::same_as<std::remove_const_t<F>, FusionRow>
void visit_fields(F& f, V& visit) {
  visit("phase", f.phase);
  visit("producer", f.producer);
  visit("consumer", f.consumer);
  visit("pairs", f.pairs);
  visit("bytes", f.bytes);
  visit("cached_bytes", f.cached_bytes);
  visit("time_us", f.time_us);
  visit("overhead_us", f.overhead_us);
}

template <class L, class V>
  requires std::same_as<std::remove_const_t<L>, LayoutRow>
void visit_fields(L& l, V& visit) {
  visit("role", l.role);
  visit("kernel", l.kernel);
  visit("bytes", l.bytes);
  visit("convert_us", l.convert_us);
  visit.any("saves_us_a_pass", l.saves_us_a_pass);
  visit("passes_to_pay", l.passes_to_pay);
}

template <class A, class V>
  requires std::same_as<std::remove_const_t<A>, Advice>
void visit_fields(A& a, V& visit) {
  visit("topic", a.topic);
  visit("phase", a.phase);
  visit("what", a.what);
  visit("why", a.why);
  visit("gain_us", a.gain_us);
  visit("gain_percent", a.gain_percent);
}

template <class C, class V>
  requires std::same_as<std::remove_const_t<C>, Ceiling>
void visit_fields(C& c, V& visit) {
  visit("per_s", c.per_s);
  visit("spread", c.spread);
  visit("source", c.source);
}

template <class C, class V>
  requires std::same_as<std::remove_const_t<C>, Ceilings>
void visit_fields(C& c, V& visit) {
  visit("read", c.read);
  visit("triad", c.triad);
  visit("copy", c.copy);
  visit("write", c.write);
  visit("units", c.units);
  visit("sheet_bytes_per_s", c.sheet_bytes_per_s);
  visit("sheet_ops_per_s", c.sheet_ops_per_s);
}

template <class P, class V>
  requires std::same_as<std::remove_const_t<P>, Profile>
void visit_fields(P& p, V& visit) {
  visit("date", p.date);
  visit("model", p.model);
  visit("device", p.device);
  visit("ceilings", p.ceilings);
  visit("phases", p.phases);
  visit("decode", p.decode);
  visit("fusion", p.fusion);
  visit("layouts", p.layouts);
  visit("advice", p.advice);
  visit("notes", p.notes);
}

}  // namespace rooftile
