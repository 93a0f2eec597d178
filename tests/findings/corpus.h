#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baton/baton.h"
#include "driver/driver.h"
#include "driver/simulator.h"

namespace baton::findings {

// A simulated GPU of its own with the corpus's kernels and a few buffers: what a program of the
// corpus runs on. Buffers have kCount elements, one a thread of the launches, which have kGrid
// blocks of kBlock threads. One thread at a time.
class Bench {
 public:
  static constexpr unsigned kCount = 256, kGrid = 2, kBlock = 128;

  Bench(const Schedule& schedule, Races races, const Compiled& kernels, const std::string& device);
  ~Bench();

  using Floats = Buffer<float>;
  Device device;
  Module module;
  Stream stream, other;
  // Inputs, which hold numbers; outputs, which hold zeros; and one that nothing wrote.
  Floats x, w, y, z, u, v, unwritten;

  template <class... Args>
  void launch(std::string_view kernel, const Args&... args) {
    launch_on(stream, {}, kernel, args...);
  }
  // As a dependent of what is before it in the stream.
  template <class... Args>
  void early(std::string_view kernel, const Args&... args) {
    LaunchAttributes attributes;
    attributes.set(pdl());
    launch_on(stream, attributes, kernel, args...);
  }
  template <class... Args>
  void launch_on(const Stream& on, const LaunchAttributes& attributes, std::string_view kernel,
                 const Args&... args) {
    LaunchConfig config{.grid = kGrid, .block = kBlock, .stream = on};
    config.attributes = attributes;
    config.force_pdl = true;  // the findings are the matter here
    module.kernel(kernel).launch(config, args...);
  }
  void in_clusters(std::string_view kernel, const Floats& out, const Floats& in);
  void in_clusters(std::string_view kernel, const Floats& out, const Floats& in, int rank);

  // In blocks of one warp.
  void by_warps(std::string_view kernel, const Floats& out, const Floats& in, unsigned cluster = 1);

  // Captures what `work` submits to `stream`, and runs it so many times.
  void as_graph(int times, const std::function<void()>& work);
  // No kernel may write it from now on.
  void make_weight(const Floats& buffer);
  // Its first elements are frozen: as many as the second element of the
  // counter says, whose bits are an integer.
  void freeze(const Floats& buffer, const Floats& counter);

  // Another device of the kind; each of the two may access the other's memory. The first call makes
  // it, before anything is launched.
  struct Peer {
    Device device;
    Module module;
    Stream stream;
    Floats x, y, slots, flags;  // x holds numbers, the others zeros
    std::unique_ptr<driver::Simulator::Session> session;
  };
  Peer& peer();
  bool has_peer() const { return peer_.has_value(); }
  // Zeros, for two slots of kCount.
  const Floats& slots();
  template <class... Args>
  void launch_on_peer(std::string_view kernel, const Args&... args) {
    const LaunchConfig config{.grid = kGrid, .block = kBlock, .stream = peer().stream};
    peer().module.kernel(kernel).launch(config, args...);
  }

  const driver::Driver& driver;
  driver::Simulator& simulator;
  NativeContext context;
  std::unique_ptr<driver::Simulator::Session> session;  // has the thread's work

 private:
  const Compiled& kernels_;
  const driver::Simulator::Options options_;
  std::optional<Peer> peer_;
  std::optional<Floats> slots_;
};

inline LaunchAttributes with(const LaunchAttribute& attribute) {
  LaunchAttributes attributes;
  attributes.set(attribute);
  return attributes;
}
inline void copy(const Bench::Floats& to, const Bench::Floats& from, const Stream& on) {
  to.memory().copy_from(from.memory(), Bench::kCount * 4, 0, 0, on);
}

// One program, and the kinds of what is to be found in it: all of them, and nothing else, whatever
// the schedule; for a right one nothing. Where `instead` is not empty, a schedule may show that in
// place of the first: memory that was freed too early is a fault for who meets it afterwards.
struct Program {
  std::string name;
  std::set<std::string> found;
  std::function<void(Bench&)> run;
  std::string instead = {};
  std::string device = "sim";
  // kGlobal: its kernels are those of grid_kernels.cu.
  Races races = Races::kUsual;
};

std::vector<Program> order_programs();    // between grids, and with the host
std::vector<Program> block_programs();    // shared memory, barriers, clusters, who never goes on
std::vector<Program> memory_programs();   // where an access goes
std::vector<Program> fault_programs();    // what ends a grid: a program for each kind, or more
std::vector<Program> grid_programs();     // global memory inside one grid
std::vector<Program> copy_programs();     // copies, discards, waits and roles inside one grid
std::vector<Program> lane_programs();     // lanes of one warp, and what does not order them
std::vector<Program> pattern_programs();  // patterns of real kernels, in blocks and in grids
std::vector<Program> chain_programs();    // several grids, streams and the host
std::vector<Program> map_programs();      // tensor maps in global memory
std::vector<Program> peer_programs();     // of two devices
std::vector<Program> right_programs();
std::vector<Program> right_grid_programs();
std::vector<Program> right_copy_programs();
std::vector<Program> right_lane_programs();
std::vector<Program> right_pattern_programs();
std::vector<Program> right_chain_programs();
std::vector<Program> right_map_programs();
std::vector<Program> right_peer_programs();

}  // namespace baton::findings
