// An engine that decodes three sequences at once, from one bundle, on three streams. It needs the
// library and a driver: no compiler, no Python and no file beside the bundle.
//
//   baton build decode_loop.toml -o decode_loop.baton --arch sm_90a
//   engine decode_loop.baton [tokens]
//
// The host enqueues the program once for each token and does nothing else: the position, the token
// and the caches are states on the device. Sequences share the loaded kernels; each has a bound
// program, and thereby caches and weights, of its own.
#include <baton/bundle.h>
#include <baton/executable.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

namespace {

class Sequence {
 public:
  Sequence(const baton::LoadedProgram& program, std::int32_t first)
      : stream_(program.device()), program_(program, baton::ExecutorKind::kGraph), first_(first) {
    program_.bind();
    program_.initialise(stream_);
    program_.prepare(stream_);  // makes the graph, so that no token waits for it
    program_.memory("token").upload(&first_, sizeof(first_), 0, stream_);
  }

  void decode() { program_.enqueue(stream_); }

  // The tokens so far. Throws if a kernel failed, naming the launch.
  std::vector<std::int32_t> tokens(std::size_t count) {
    std::vector<std::int32_t> tokens(count);
    program_.memory("tokens").download(tokens.data(), count * sizeof(tokens[0]), 0, stream_);
    program_.wait(stream_);
    return tokens;
  }

  std::size_t room() const { return static_cast<std::size_t>(program_.shape("tokens")[0]); }

 private:
  baton::Stream stream_;
  baton::Executable program_;
  std::int32_t first_;  // stays while its copy may be under way
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: engine BUNDLE [TOKENS]\n");
    return 2;
  }
  const baton::Device device = baton::Device::open();
  const baton::Bundle bundle = baton::Bundle::open(argv[1]);
  const baton::LoadedProgram program = baton::LoadedProgram::load(bundle, device);

  std::deque<Sequence> sequences;
  for (const std::int32_t first : {0, 1, 2}) sequences.emplace_back(program, first);
  const std::size_t most = sequences[0].room();
  const std::size_t count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : most;
  if (count > most) {
    std::fprintf(stderr, "error: %zu tokens are more than the caches hold: %zu\n", count, most);
    return 2;
  }
  for (std::size_t token = 0; token < count; ++token) {
    for (Sequence& sequence : sequences) sequence.decode();
  }
  for (Sequence& sequence : sequences) {
    for (const std::int32_t token : sequence.tokens(count)) std::printf("%d ", token);
    std::printf("\n");
  }
  return 0;
} catch (const baton::Error& failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return baton::exit_status(failure.code());
}
