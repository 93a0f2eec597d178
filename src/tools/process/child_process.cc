#include "tools/process/child_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "base/file/file_descriptor.h"

extern char** environ;

namespace baton::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
// How often a stop is looked for while the process runs.
constexpr std::chrono::milliseconds kStep{50};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Signals that this process handles or ignores do what they do in any other.
void set_attributes(posix_spawnattr_t* attributes, bool own_group) {
  sigset_t handled;
  sigemptyset(&handled);
  for (const int each : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&handled, each);
  posix_spawnattr_setsigdefault(attributes, &handled);
  int flags = POSIX_SPAWN_SETSIGDEF;
  if (own_group) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(attributes, static_cast<short>(flags));
}

pid_t start(const std::vector<std::string>& command, const Environment& environment,
            std::optional<int> output) {
  std::vector<std::string> words = command;
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  set_attributes(&attributes, output.has_value());
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (output) posix_spawn_file_actions_adddup2(&files, *output, STDOUT_FILENO);
  pid_t process = 0;
  const int failure = posix_spawnp(&process, words.front().c_str(), &files, &attributes,
                                   pointers(words).data(), pointers(settings).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure == 0) return process;
  throw error(failure == ENOENT ? ErrorCode::kNotFound : ErrorCode::kInvalidInput,
              "\"{}\" cannot be started: {}", command.front(), std::strerror(failure));
}

}  // namespace

Environment current_environment() {
  Environment all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view setting(*each);
    const std::size_t cut = setting.find('=');
    if (cut == std::string_view::npos) continue;
    all.emplace(setting.substr(0, cut), setting.substr(cut + 1));
  }
  return all;
}

ProcessEnd run_process(const std::vector<std::string>& command, const Environment& environment,
                       std::optional<std::chrono::duration<double>> limit,
                       const std::atomic<bool>& stop, std::optional<int> output) {
  const pid_t process = start(command, environment, output);
  const pid_t signalled = output ? -process : process;
  // Readable once the process has ended; a system without it is asked again and again.
  const FileDescriptor ended(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> asked;  // to end
  ProcessEnd end;
  end.process = process;
  int status = 0;
  while (true) {
    const pid_t found = waitpid(process, &status, WNOHANG);
    if (found == process) break;
    if (found < 0 && errno != EINTR) {
      throw error(ErrorCode::kInternal, "the end of \"{}\" cannot be known: {}", command.front(),
                  std::strerror(errno));
    }
    const Clock::time_point now = Clock::now();
    if (!asked && limit && now - begin > *limit) end.timed_out = true;
    if (!asked && (end.timed_out || stop)) {
      kill(signalled, SIGTERM);
      asked = now;
    } else if (asked && now - *asked > kPatience) {
      kill(signalled, SIGKILL);
      asked = now;
    }
    pollfd waited{ended.number(), POLLIN, 0};
    poll(&waited, ended.number() >= 0 ? 1 : 0, static_cast<int>(kStep.count()));
  }
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace baton::tools
