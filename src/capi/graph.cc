#include "baton/graph.h"

#include <fmt/core.h>

#include <vector>

#include "capi/call.h"
#include "capi/stream_or_default.h"

using baton::Graph;
using baton::GraphEdge;
using baton::GraphEdgeKind;
using baton::GraphInstance;
using baton::NativeGraphNode;
using baton::capi::Call;
using baton::capi::GraphContent;
using baton::capi::GraphInstanceContent;
using baton::capi::HandleReference;

namespace baton::capi {
namespace {

NativeGraphNode node_of(const Call& call, baton_graph_node node, const char* argument) {
  call.require_handle(node, argument);
  return static_cast<NativeGraphNode>(node);
}

// Edges of the caller.
std::vector<GraphEdge> edges_of(const Call& call, const baton_graph_edge* after,
                                std::size_t count) {
  static constexpr Call::Constant<GraphEdgeKind> kKinds[] = {
      {BATON_EDGE_FULL, GraphEdgeKind::kFull},
      {BATON_EDGE_PROGRAMMATIC, GraphEdgeKind::kProgrammatic},
      {BATON_EDGE_LAUNCH_ORDER, GraphEdgeKind::kLaunchOrder},
  };
  std::vector<GraphEdge> edges;
  for (const baton_graph_edge& edge : call.array(after, count, "after")) {
    call.require_zero(edge.reserved, "after->reserved");
    edges.emplace_back(node_of(call, edge.from, "after->from"),
                       call.constant(edge.kind, kKinds, "after->kind"));
  }
  return edges;
}

// Runs `body` on a graph, if no other thread is in it.
template <typename Body>
baton_error* call_graph(const char* function, baton_graph* graph, Body&& body) noexcept {
  return capi::call(function, [&](const Call& call) {
    GraphContent& content = call.get(graph, "graph");
    const Call::Turn turn(call, content.gate, baton_graph::kName);
    body(call, content.graph);
  });
}

// The same for an instance.
template <typename Body>
baton_error* call_instance(const char* function, baton_graph_instance* instance,
                           Body&& body) noexcept {
  return capi::call(function, [&](const Call& call) {
    GraphInstanceContent& content = call.get(instance, "instance");
    const Call::Turn turn(call, content.gate, baton_graph_instance::kName);
    body(call, content.instance);
  });
}

// Adds a node by `add`, which gets the edges. `node` may be null.
template <typename Add>
baton_error* add_node(const char* function, baton_graph* graph, const baton_graph_edge* after,
                      std::size_t count, baton_graph_node* node, Add&& add) noexcept {
  return call_graph(function, graph, [&](const Call& call, Graph& content) {
    if (node != nullptr) *node = nullptr;
    const std::vector<GraphEdge> edges = edges_of(call, after, count);
    const NativeGraphNode added = add(call, content, Span<const GraphEdge>(edges));
    if (node != nullptr) *node = added;
  });
}

DeviceAddress address_of(void* address) {
  return reinterpret_cast<DeviceAddress>(address);
}

}  // namespace
}  // namespace baton::capi

baton_error* baton_graph_create(const baton_device* device, baton_graph** graph) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_graph*& result = call.result(graph, "graph");
    result = baton::capi::make_handle<baton_graph>(Graph(call.get(device, "device")));
  });
}

baton_error* baton_graph_capture(const baton_stream* stream, baton_capture_function work,
                                 void* data, baton_graph** graph) {
  return baton::capi::call(__func__, [&](const Call& call) {
    baton_graph*& result = call.result(graph, "graph");
    const baton::Stream& captured = call.get(stream, "stream");
    call.require_function(work, "work");
    result = baton::capi::make_handle<baton_graph>(
        Graph::capture(captured, [&] { baton::capi::throw_returned(work(data)); }));
  });
}

baton_error* baton_graph_add_launch(baton_graph* graph, baton_plan* plan,
                                    const baton_graph_edge* after, std::size_t count,
                                    baton_graph_node* node) {
  return baton::capi::add_node(__func__, graph, after, count, node,
                               [&](const Call& call, Graph& content, auto edges) {
                                 auto& launch = call.get(plan, "plan");
                                 const Call::Turn turn(call, launch.gate, baton_plan::kName);
                                 return content.add(launch.plan, edges);
                               });
}

baton_error* baton_graph_add_copy(baton_graph* graph, void* to, void* from, std::uint64_t bytes,
                                  const baton_graph_edge* after, std::size_t count,
                                  baton_graph_node* node) {
  return baton::capi::add_node(
      __func__, graph, after, count, node, [&](const Call&, Graph& content, auto edges) {
        return content.add_copy(baton::capi::address_of(to), baton::capi::address_of(from), bytes,
                                edges);
      });
}

baton_error* baton_graph_add_fill(baton_graph* graph, void* to, std::uint64_t value,
                                  std::uint32_t width, std::uint64_t elements,
                                  const baton_graph_edge* after, std::size_t count,
                                  baton_graph_node* node) {
  return baton::capi::add_node(
      __func__, graph, after, count, node, [&](const Call&, Graph& content, auto edges) {
        return content.add_fill(baton::capi::address_of(to), value, width, elements, edges);
      });
}

baton_error* baton_graph_add_host(baton_graph* graph, void (*function)(void* data), void* data,
                                  const baton_graph_edge* after, std::size_t count,
                                  baton_graph_node* node) {
  return baton::capi::add_node(
      __func__, graph, after, count, node, [&](const Call& call, Graph& content, auto edges) {
        call.require_function(function, "function");
        return content.add_host([function, data] { function(data); }, edges);
      });
}

baton_error* baton_graph_add_empty(baton_graph* graph, const baton_graph_edge* after,
                                   std::size_t count, baton_graph_node* node) {
  return baton::capi::add_node(
      __func__, graph, after, count, node,
      [](const Call&, Graph& content, auto edges) { return content.add_empty(edges); });
}

baton_error* baton_graph_add_record(baton_graph* graph, const baton_event* event,
                                    const baton_graph_edge* after, std::size_t count,
                                    baton_graph_node* node) {
  return baton::capi::add_node(__func__, graph, after, count, node,
                               [&](const Call& call, Graph& content, auto edges) {
                                 return content.add_record(call.get(event, "event"), edges);
                               });
}

baton_error* baton_graph_make_condition(baton_graph* graph, const std::uint32_t* initial,
                                        std::uint64_t* condition) {
  return baton::capi::call_graph(__func__, graph, [&](const Call& call, Graph& content) {
    std::uint64_t& result = call.result(condition, "condition");
    std::optional<std::uint32_t> first;
    if (initial != nullptr) first = *initial;
    result = content.make_condition(first);
  });
}

baton_error* baton_graph_add_conditional(baton_graph* graph, std::uint64_t condition,
                                         std::int32_t kind, const baton_graph_edge* after,
                                         std::size_t count, baton_graph_node* node,
                                         baton_graph** body) {
  return baton::capi::add_node(
      __func__, graph, after, count, node, [&](const Call& call, Graph& content, auto edges) {
        static constexpr Call::Constant<bool> kKinds[] = {
            {BATON_CONDITIONAL_IF, false},
            {BATON_CONDITIONAL_WHILE, true},
        };
        baton_graph*& result = call.result(body, "body");
        const bool repeats = call.constant(kind, kKinds, "kind");
        baton::GraphConditional added =
            repeats ? content.add_while(condition, edges) : content.add_if(condition, edges);
        result = baton::capi::make_handle<baton_graph>(std::move(added.body),
                                                       HandleReference<baton_graph>(graph));
        return added.node;
      });
}

baton_error* baton_graph_connect(baton_graph* graph, const baton_graph_edge* edge,
                                 baton_graph_node to) {
  return baton::capi::call_graph(__func__, graph, [&](const Call& call, Graph& content) {
    call.require_handle(edge, "edge");
    content.connect(baton::capi::edges_of(call, edge, 1)[0], baton::capi::node_of(call, to, "to"));
  });
}

baton_error* baton_graph_counts(baton_graph* graph, baton_graph_info* info) {
  return baton::capi::call_graph(__func__, graph, [&](const Call& call, Graph& content) {
    call.room(info, "info");
    const Graph::Counts counts = content.counts();
    baton_graph_info value = BATON_GRAPH_INFO_INIT;
    value.nodes = counts.nodes;
    value.edges = counts.edges;
    value.programmatic_edges = counts.programmatic_edges;
    call.write(info, value, "info");
  });
}

baton_error* baton_graph_native(baton_graph* graph, void** cu_graph) {
  return baton::capi::call_graph(__func__, graph, [&](const Call& call, Graph& content) {
    call.result(cu_graph, "cu_graph") = content.native();
  });
}

void baton_graph_retain(baton_graph* graph) {
  baton::capi::retain(graph);
}

void baton_graph_release(baton_graph* graph) {
  baton::capi::release(graph);
}

baton_error* baton_graph_instantiate(baton_graph* graph, std::int32_t node_priorities,
                                     baton_graph_instance** instance) {
  return baton::capi::call_graph(__func__, graph, [&](const Call& call, Graph& content) {
    baton_graph_instance*& result = call.result(instance, "instance");
    result = baton::capi::make_handle<baton_graph_instance>(
        HandleReference<baton_graph>(graph),
        GraphInstance(content, call.flag(node_priorities, "node_priorities")), content.device());
  });
}

baton_error* baton_graph_launch(baton_graph_instance* instance, const baton_stream* stream) {
  return baton::capi::call(__func__, [&](const Call& call) {
    GraphInstanceContent& content = call.get(instance, "instance");
    const Call::Turn turn(call, content.gate, baton_graph_instance::kName);
    content.instance.launch(*baton::capi::StreamOrDefault(call, stream, content.device));
  });
}

baton_error* baton_graph_update_launch(baton_graph_instance* instance, baton_graph_node node,
                                       baton_plan* plan) {
  return baton::capi::call_instance(
      __func__, instance, [&](const Call& call, GraphInstance& content) {
        auto& launch = call.get(plan, "plan");
        const Call::Turn turn(call, launch.gate, baton_plan::kName);
        content.update(baton::capi::node_of(call, node, "node"), launch.plan);
      });
}

baton_error* baton_graph_update(baton_graph_instance* instance, baton_graph* graph,
                                std::int32_t* updated) {
  return baton::capi::call_instance(__func__, instance,
                                    [&](const Call& call, GraphInstance& content) {
                                      std::int32_t& result = call.result(updated, "updated");
                                      result = 0;
                                      GraphContent& other = call.get(graph, "graph");
                                      const Call::Turn turn(call, other.gate, baton_graph::kName);
                                      result = content.update(other.graph) ? 1 : 0;
                                    });
}

baton_error* baton_graph_instance_native(baton_graph_instance* instance, void** cu_graph_exec) {
  return baton::capi::call_instance(
      __func__, instance, [&](const Call& call, GraphInstance& content) {
        call.result(cu_graph_exec, "cu_graph_exec") = content.native();
      });
}

void baton_graph_instance_retain(baton_graph_instance* instance) {
  baton::capi::retain(instance);
}

void baton_graph_instance_release(baton_graph_instance* instance) {
  baton::capi::release(instance);
}
