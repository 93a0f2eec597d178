#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/system/thread_gate.h"
#include "baton.h"
#include "baton/buffer.h"
#include "baton/bundle.h"
#include "baton/check.h"
#include "baton/device.h"
#include "baton/error.h"
#include "baton/finding.h"
#include "baton/graph.h"
#include "baton/launch_plan.h"
#include "baton/module.h"
#include "baton/rewrite.h"
#include "baton/sm_part.h"
#include "baton/stream.h"
#include "capi/handle.h"
#include "capi/program_instance.h"

// The kinds of handles, and the C++ objects that they refer to.

namespace baton::capi {

struct ErrorContent {
  Error error;
  std::string where;  // the place as text
};

struct ModuleContent {
  Module module;
  std::string log;  // the compiler's warnings
};

struct OpenBundle {
  Bundle bundle;
  std::string version;
  std::vector<std::string> architectures;
};

using FindingList = std::vector<FindingReport>;

}  // namespace baton::capi

struct baton_error final : baton::capi::Handle<baton_error, baton::capi::ErrorContent> {
  static constexpr std::string_view kName = "baton_error";
};
struct baton_findings final : baton::capi::Handle<baton_findings, baton::capi::FindingList> {
  static constexpr std::string_view kName = "baton_findings";
};
struct baton_device final : baton::capi::Handle<baton_device, baton::Device> {
  static constexpr std::string_view kName = "baton_device";
};
struct baton_stream final : baton::capi::Handle<baton_stream, baton::Stream> {
  static constexpr std::string_view kName = "baton_stream";
};
struct baton_sm_part final : baton::capi::Handle<baton_sm_part, baton::SmPart> {
  static constexpr std::string_view kName = "baton_sm_part";
};
struct baton_event final : baton::capi::Handle<baton_event, baton::Event> {
  static constexpr std::string_view kName = "baton_event";
};
struct baton_memory final : baton::capi::Handle<baton_memory, baton::Memory> {
  static constexpr std::string_view kName = "baton_memory";
};
struct baton_module final : baton::capi::Handle<baton_module, baton::capi::ModuleContent> {
  static constexpr std::string_view kName = "baton_module";
};
struct baton_bundle final : baton::capi::Handle<baton_bundle, baton::capi::OpenBundle> {
  static constexpr std::string_view kName = "baton_bundle";
};
struct baton_kernel final : baton::capi::Handle<baton_kernel, baton::Kernel> {
  static constexpr std::string_view kName = "baton_kernel";
};

namespace baton::capi {

// A prepared launch, and the stream that it is made on. One thread at a time.
struct PlanContent {
  LaunchPlan plan;
  Device device;
  HandleReference<baton_stream> stream;
  ThreadGate gate{};
};

}  // namespace baton::capi

struct baton_plan final : baton::capi::Handle<baton_plan, baton::capi::PlanContent> {
  static constexpr std::string_view kName = "baton_plan";
};
struct baton_pinned final : baton::capi::Handle<baton_pinned, baton::PinnedMemory> {
  static constexpr std::string_view kName = "baton_pinned";
};
struct baton_graph;

namespace baton::capi {

// A graph, or the body of a conditional node. One thread at a time.
struct GraphContent {
  Graph graph;
  HandleReference<baton_graph> parent{};  // the graph that has the node
  ThreadGate gate{};
};

}  // namespace baton::capi

struct baton_graph final : baton::capi::Handle<baton_graph, baton::capi::GraphContent> {
  static constexpr std::string_view kName = "baton_graph";
};

namespace baton::capi {

// A graph that is ready to run, and what it was made from. One thread at a time.
struct GraphInstanceContent {
  HandleReference<baton_graph> graph;
  GraphInstance instance;
  Device device;
  ThreadGate gate{};
};

}  // namespace baton::capi

struct baton_graph_instance final
    : baton::capi::Handle<baton_graph_instance, baton::capi::GraphInstanceContent> {
  static constexpr std::string_view kName = "baton_graph_instance";
};
struct baton_rewrite final : baton::capi::Handle<baton_rewrite, baton::RewrittenPtx> {
  static constexpr std::string_view kName = "baton_rewrite";
};
struct baton_program final : baton::capi::Handle<baton_program, baton::capi::ProgramContent> {
  static constexpr std::string_view kName = "baton_program";
};
struct baton_check final : baton::capi::Handle<baton_check, baton::CheckReport> {
  static constexpr std::string_view kName = "baton_check";
};
