// Several texts that grow at once, printed as they are made. Tokens are numbers.
//
//   generate llama-1b.toml 128 8 "791 9834" "1966 264 3074"
//
// decodes at most 128 tokens after each prompt, and looks after each 8. The program may be a
// bundle (.baton), which needs no compiler.
//
// Each text is an instance of one loaded program, on a stream of its own. Instances share kernels
// and the weights of files. Tokens, position and caches are states on the device: enqueueing the
// program again (RESUME = 1) goes on where the run before ended.
#include <baton/bundle.h>
#include <baton/executable.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Tokens = std::vector<std::int32_t>;

class Sequence {
 public:
  // A text of the prompt, which must not be empty, and at most `count` more tokens. Each run adds
  // `chunk` of them.
  Sequence(const baton::LoadedProgram& loaded, const Tokens& prompt, int count, int chunk)
      : position_(loaded.device(), 1),
        tokens_(loaded.device(), prompt.size() + static_cast<std::size_t>(count)),
        stream_(loaded.device()),
        program_(loaded, baton::ExecutorKind::kGraph),
        last_(static_cast<std::int64_t>(tokens_.size()) - 1),
        chunk_(chunk),
        seen_(static_cast<std::int64_t>(prompt.size())) {
    program_.bind(
        {.symbols = {{"RESUME", 1}, {"STEPS", chunk}, {"PROMPT", seen_}, {"LIMIT", last_}}});
    std::int64_t tokens = 0;  // of the model
    for (const baton::BoundSymbol& symbol : program_.symbols()) {
      if (symbol.name == "STOP") stop_ = symbol.value;
      if (symbol.name == "V") tokens = symbol.value;
    }
    // The kernels do not check them.
    for (const std::int32_t token : prompt) {
      if (token >= 0 && token < tokens) continue;
      throw baton::Error(baton::ErrorCode::kInvalidInput,
                         "the prompt has token " + std::to_string(token) + ", the model has 0 to " +
                             std::to_string(tokens - 1));
    }
    std::copy(prompt.begin(), prompt.end(), tokens_.begin());
    program_.memory("tokens").upload(tokens_.data(), prompt.size() * sizeof(tokens_[0]), 0,
                                     stream_);
    program_.prepare(stream_);  // makes the graph, so that no run waits for it
  }

  // Enqueues a run, and the copies of what it may add.
  void advance() {
    program_.enqueue(stream_);
    const std::int64_t count = std::min(chunk_, last_ + 1 - seen_);
    program_.memory("tokens").download(&tokens_[static_cast<std::size_t>(seen_)],
                                       static_cast<std::size_t>(count) * sizeof(tokens_[0]),
                                       static_cast<std::size_t>(seen_) * sizeof(tokens_[0]),
                                       stream_);
    program_.memory("position").download(position_.data(), sizeof(position_[0]), 0, stream_);
  }

  // Waits for the run, and returns the tokens that it added. Throws if a kernel failed, naming the
  // launch.
  Tokens take() {
    program_.wait(stream_);
    const Tokens added(tokens_.begin() + seen_, tokens_.begin() + position_[0] + 1);
    seen_ = position_[0] + 1;
    done_ = done_ || position_[0] == last_ || (!added.empty() && added.back() == stop_);
    return added;
  }

  bool done() const { return done_; }

 private:
  // Page-locked, so that copies from the device do not hold up the host. They outlive the stream.
  baton::PinnedBuffer<std::int32_t> position_, tokens_;
  baton::Stream stream_;
  baton::Executable program_;
  std::int64_t last_, chunk_, seen_;  // `seen_`: tokens that the caller has
  std::int64_t stop_ = -1;
  bool done_ = false;
};

baton::LoadedProgram load(const std::filesystem::path& file, const baton::Device& device) {
  if (file.extension() == ".baton") {
    return baton::LoadedProgram::load(baton::Bundle::open(file), device);
  }
  return baton::LoadedProgram::load(baton::Program::from_file(file), device);
}

Tokens read_tokens(const std::string& text) {
  std::istringstream words(text);
  Tokens tokens;
  for (std::int32_t token; words >> token;) tokens.push_back(token);
  return words.eof() ? tokens : Tokens();
}

}  // namespace

int main(int argc, char** argv) try {
  const int count = argc > 2 ? std::atoi(argv[2]) : 0, chunk = argc > 3 ? std::atoi(argv[3]) : 0;
  std::vector<Tokens> prompts;
  for (int i = 4; i < argc; ++i) prompts.push_back(read_tokens(argv[i]));
  const bool has_empty = std::any_of(prompts.begin(), prompts.end(),
                                     [](const Tokens& prompt) { return prompt.empty(); });
  if (prompts.empty() || has_empty || count < 1 || chunk < 1) {
    std::fprintf(stderr, "usage: generate PROGRAM COUNT CHUNK \"TOKEN TOKEN...\"...\n");
    return 2;
  }
  const baton::Device device = baton::Device::open();
  const baton::LoadedProgram program = load(argv[1], device);
  std::deque<Sequence> sequences;
  for (const Tokens& prompt : prompts) sequences.emplace_back(program, prompt, count, chunk);

  for (Sequence& sequence : sequences) sequence.advance();
  for (std::size_t left = sequences.size(); left > 0;) {
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      Sequence& sequence = sequences[i];
      if (sequence.done()) continue;
      const Tokens added = sequence.take();
      // The device goes on while this is printed.
      if (sequence.done()) {
        --left;
      } else {
        sequence.advance();
      }
      std::printf("%zu:", i);
      for (const std::int32_t token : added) std::printf(" %d", token);
      std::printf("\n");
      std::fflush(stdout);
    }
  }
  return 0;
} catch (const baton::Error& failure) {
  std::fprintf(stderr, "error: %s\n", failure.what());
  return baton::exit_status(failure.code());
}
