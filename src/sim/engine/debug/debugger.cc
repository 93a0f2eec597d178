#include "sim/engine/debug/debugger.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>

#include "base/error.h"
#include "image/names/readable_names.h"
#include "sim/engine/debug/stopped.h"
#include "sim/engine/run/engine.h"

namespace baton::sim {
namespace {

constexpr int kTrapSignal = 5;
constexpr int kFaultSignal = 11;
constexpr int kInterruptSignal = 2;
constexpr std::uint32_t kInstructionsPerPoll = 4096;
constexpr std::size_t kGeneralRegisters = 16;  // of x86-64, which GDB takes the device for

std::optional<std::uint64_t> number_of(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A register as GDB wants it: its bytes from the lowest on.
std::string register_text(std::uint64_t value) {
  std::string bytes;
  for (int k = 0; k < 8; ++k) bytes += static_cast<char>(value >> (8 * k));
  return to_hex(bytes);
}

const std::string kUnavailable(16, 'x');

// Whether a place, "/src/norm.cu:12:7" or several of them, is on a line of the file.
bool is_on_line(std::string_view place, std::string_view file, std::uint32_t line) {
  const std::string wanted = fmt::format("{}:{}:", file, line);
  for (std::size_t at = place.find(wanted); at != place.npos; at = place.find(wanted, at + 1)) {
    if (at == 0 || place[at - 1] == '/' || place[at - 1] == ' ') return true;
  }
  return false;
}

constexpr std::string_view kHelp =
    "where                 the place of the thread, its instruction and its calls\n"
    "list                  lines of the source around the thread's place\n"
    "registers [NAME...]   registers of the thread by their PTX names\n"
    "set NAME VALUE        change a register of the thread; a number with a point is a float\n"
    "break FILE:LINE       stop where a warp comes to a line of the source\n"
    "break LINE            the same for a line of the PTX\n"
    "delete                forget all lines\n"
    "launches on|off       stop at each launch; on at first\n"
    "findings on|off       stop at findings that are not faults; on at first\n"
    "Threads are those of the cluster that is stopped. stepi executes one instruction of a warp.\n"
    "GDB takes the device for an x86-64: $pc is the line of the PTX, its other registers mean "
    "nothing.\n";

}  // namespace

void Debugger::begin(const GridState& grid) {
  std::lock_guard lock(mutex_);
  if (has_ended_) return;
  if (!is_attached_) {
    try {
      connection_.listen(port_);
    } catch (const Error& failure) {
      std::fprintf(stderr, "baton: %s\n", failure.message().c_str());
      return detach();
    }
    std::fprintf(stderr, "baton: kernel %s is launched and waits for GDB: target remote :%u\n",
                 image::with_readable_names(grid.launch.kernel->name).c_str(), unsigned{port_});
    is_attached_ = connection_.accept();
    if (!is_attached_) return detach();
  }
  // A kernel of an unloaded module may have been where this one is.
  line_at_.clear();
  if (stops_at_launches_) launched_ = grid.id;
}

void Debugger::note(const driver::Finding& finding) {
  std::lock_guard lock(mutex_);
  if (!is_attached_ || has_ended_ || !stops_at_findings_ || finding.is_fault) return;
  found_ = fmt::format("{} ({})", driver::describe(finding), finding.where);
}

// The first instruction of a line that a warp comes to from another line.
bool Debugger::stops_at_line(Exec* x, const Insn* i) {
  if (lines_.empty()) return false;
  const auto [known, is_new] = line_at_.try_emplace(i, 0);
  if (is_new) {
    const Stopped stopped(x, i);
    const std::uint32_t thread = stopped.current();
    const std::string place = stopped.place_of(thread);
    for (std::uint32_t k = 0; k < lines_.size(); ++k) {
      const Line& line = lines_[k];
      const bool is_here = line.file.empty() ? stopped.line_of(thread) == line.line
                                             : is_on_line(place, line.file, line.line);
      if (is_here) known->second = k + 1;
    }
  }
  std::uint32_t& last = last_line_[x->warp];
  const bool comes = known->second != 0 && known->second != last;
  last = known->second;
  return comes;
}

void Debugger::before(Exec* x, const Insn* i) {
  std::lock_guard lock(mutex_);
  if (!is_attached_ || has_ended_) return;
  const bool comes_to_line = stops_at_line(x, i);
  const Stopped stopped(x, i);
  const auto stop_here = [&](int signal, std::string_view why) {
    stop(stopped, stopped.current(), signal, why);
  };
  if (stepped_ == x->warp) return stop_here(kTrapSignal, "stepped");
  if (!found_.empty()) return stop_here(kTrapSignal, std::exchange(found_, {}));
  if (launched_ == x->grid->id) {
    return stop_here(kTrapSignal,
                     fmt::format("kernel {} is launched",
                                 image::with_readable_names(x->grid->launch.kernel->name)));
  }
  if (comes_to_line) return stop_here(kTrapSignal, "came to a line");
  if (until_poll_-- != 0) return;
  until_poll_ = kInstructionsPerPoll;
  if (connection_.is_interrupted()) return stop_here(kInterruptSignal, "interrupted");
  if (!connection_.is_open()) detach();
}

void Debugger::fault(Exec* x, const Insn* i, int lane, const driver::Finding& finding) {
  std::lock_guard lock(mutex_);
  if (!is_attached_ || has_ended_) return;
  const Stopped stopped(x, i);
  stop(stopped, stopped.thread_of(lane), kFaultSignal,
       fmt::format("{} ({})", driver::describe(finding), finding.where));
}

void Debugger::detach() {
  has_ended_ = true;
  connection_.close();
}

void Debugger::stop(const Stopped& stopped, std::uint32_t thread, int signal,
                    std::string_view why) {
  launched_ = 0;
  const bool is_first = told_.empty();
  stepped_ = nullptr;
  thread_ = thread;
  told_ = why;
  // GDB asks for the first stop itself.
  if (!is_first) {
    connection_.send("O" + to_hex(fmt::format("{}: {}\n", stopped.name_of(thread_), told_)));
    connection_.send(fmt::format("T{:02x}thread:{:x};", signal, thread_));
  }
  while (const auto packet = connection_.receive()) {
    if (answer(stopped, *packet, signal) == Resume::kYes) return;
  }
  detach();
}

Debugger::Resume Debugger::answer(const Stopped& stopped, const std::string& packet, int signal) {
  const std::string_view rest = std::string_view(packet).substr(packet.empty() ? 0 : 1);
  switch (packet.empty() ? '\0' : packet[0]) {
    case '?':
      connection_.send(fmt::format("T{:02x}thread:{:x};", signal, thread_));
      break;
    case 'g': {
      std::string text;
      for (std::size_t k = 0; k < kGeneralRegisters; ++k) text += kUnavailable;
      connection_.send(text + register_text(stopped.line_of(thread_)));
      break;
    }
    case 'p':
      connection_.send(number_of(rest, 16) == kGeneralRegisters
                           ? register_text(stopped.line_of(thread_))
                           : kUnavailable);
      break;
    case 'm': {
      const std::size_t comma = rest.find(',');
      const auto address = number_of(rest.substr(0, comma), 16);
      const auto bytes = comma == rest.npos ? std::nullopt : number_of(rest.substr(comma + 1), 16);
      const std::string found =
          address && bytes
              ? stopped.memory(thread_, *address, std::min<std::uint64_t>(*bytes, 4096))
              : "";
      connection_.send(found.empty() ? "E01" : to_hex(found));
      break;
    }
    case 'M': {
      const std::size_t comma = rest.find(',');
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      const auto address = number_of(rest.substr(0, comma), 16);
      const auto bytes =
          comma < colon ? number_of(rest.substr(comma + 1, colon - comma - 1), 16) : std::nullopt;
      const std::string data = from_hex(rest.substr(std::min(colon + 1, rest.size())));
      const bool is_set = address && bytes && data.size() == *bytes &&
                          (data.empty() || stopped.set_memory(thread_, *address, data));
      connection_.send(is_set ? "OK" : "E01");
      break;
    }
    case 'H': {
      const auto thread = number_of(rest.substr(std::min<std::size_t>(1, rest.size())), 16);
      if (thread && *thread != 0 && stopped.is_thread(static_cast<std::uint32_t>(*thread))) {
        thread_ = static_cast<std::uint32_t>(*thread);
      }
      connection_.send("OK");
      break;
    }
    case 'T': {
      const auto thread = number_of(rest, 16);
      const bool lives = thread && stopped.is_thread(static_cast<std::uint32_t>(*thread));
      connection_.send(lives ? "OK" : "E01");
      break;
    }
    case 'Z':
    case 'z': {
      // Breakpoints at $pc: lines of the PTX.
      const std::size_t end = rest.rfind(',');
      const auto line =
          rest.starts_with("0,") && end > 2 ? number_of(rest.substr(2, end - 2), 16) : std::nullopt;
      if (!line) {
        connection_.send("");
        break;
      }
      std::erase_if(lines_, [&](const Line& one) { return one.file.empty() && one.line == *line; });
      if (packet[0] == 'Z') lines_.push_back({"", static_cast<std::uint32_t>(*line)});
      line_at_.clear();
      connection_.send("OK");
      break;
    }
    case 'q':
    case 'Q':
      if (packet == "QStartNoAckMode") {
        connection_.send("OK");
        connection_.stop_acknowledging();
      } else {
        connection_.send(query(stopped, packet));
      }
      break;
    case 'D':
      connection_.send("OK");
      detach();
      return Resume::kYes;
    case 'k':
      detach();
      return Resume::kYes;
    case 'c':
    case 's':
    case 'C':
    case 'S':
    case 'v':
      return resume(stopped, packet);
    default:
      connection_.send("");
  }
  return Resume::kNo;
}

// c, s, and vCont with one action: all goes on; with s until the thread's warp has executed one
// instruction.
Debugger::Resume Debugger::resume(const Stopped& stopped, const std::string& packet) {
  if (packet == "vCont?") {
    connection_.send("vCont;c;C;s;S");
    return Resume::kNo;
  }
  std::string_view action = packet;
  if (action.starts_with("v") && !action.starts_with("vCont;")) {
    connection_.send("");
    return Resume::kNo;
  }
  if (action.starts_with("vCont;")) action.remove_prefix(6);
  if (action.starts_with("s") || action.starts_with("S")) {
    const std::size_t colon = action.find(':');
    const std::size_t end = action.find(';');
    const auto thread = colon == action.npos || colon > end
                            ? std::optional<std::uint64_t>(thread_)
                            : number_of(action.substr(colon + 1, end - colon - 1), 16);
    const Warp* const warp =
        thread ? stopped.warp_of(static_cast<std::uint32_t>(*thread)) : nullptr;
    stepped_ = warp != nullptr ? warp : stopped.warp_of(stopped.current());
  }
  return Resume::kYes;
}

std::string Debugger::query(const Stopped& stopped, const std::string& packet) {
  const std::string_view text = packet;
  if (text.starts_with("qSupported")) {
    return "PacketSize=4000;QStartNoAckMode+;vContSupported+;qXfer:features:read+";
  }
  if (text.starts_with("qXfer:features:read:target.xml:")) {
    return "l<target><architecture>i386:x86-64</architecture></target>";
  }
  if (text == "qC") return fmt::format("QC{:x}", thread_);
  if (text == "qAttached") return "1";
  if (text == "qfThreadInfo") {
    return fmt::format("m{:x}", fmt::join(stopped.threads(), ","));
  }
  if (text == "qsThreadInfo") return "l";
  if (text.starts_with("qThreadExtraInfo,")) {
    const auto thread = number_of(text.substr(17), 16);
    if (!thread) return "E01";
    const auto number = static_cast<std::uint32_t>(*thread);
    return to_hex(fmt::format("{} at {}", stopped.name_of(number), stopped.place_of(number)));
  }
  if (text.starts_with("qRcmd,")) return to_hex(monitor(stopped, from_hex(text.substr(6))));
  return "";
}

std::string Debugger::add_line(std::string_view where) {
  const std::size_t colon = where.rfind(':');
  const auto line = number_of(colon == where.npos ? where : where.substr(colon + 1), 10);
  if (!line || *line == 0 || colon == 0) {
    return "break takes FILE:LINE, or a line of the PTX\n";
  }
  lines_.push_back({std::string(colon == where.npos ? "" : where.substr(0, colon)),
                    static_cast<std::uint32_t>(*line)});
  line_at_.clear();
  return fmt::format("stops at {}\n", where);
}

std::string Debugger::monitor(const Stopped& stopped, const std::string& command) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < command.size();) {
    const std::size_t begin = command.find_first_not_of(' ', at);
    if (begin == command.npos) break;
    at = std::min(command.find(' ', begin), command.size());
    words.push_back(command.substr(begin, at - begin));
  }
  if (words.empty()) words.emplace_back("help");
  const std::string& verb = words[0];
  if (verb == "where") {
    std::string text = fmt::format("{}: {}\n{}, PTX line {}: {}\n", stopped.name_of(thread_), told_,
                                   stopped.place_of(thread_), stopped.line_of(thread_),
                                   stopped.instruction_of(thread_));
    for (const std::string& call : stopped.calls_of(thread_)) text += fmt::format("  {}\n", call);
    return text;
  }
  if (verb == "list") {
    const std::string text = stopped.source_of(thread_);
    return text.empty() ? "no source here\n" : text;
  }
  if (verb == "registers") {
    std::string text;
    for (const Stopped::Register& one : stopped.registers_of(thread_)) {
      const bool is_named =
          words.size() == 1 || std::find(words.begin() + 1, words.end(), one.name) != words.end() ||
          std::find(words.begin() + 1, words.end(), one.name.substr(1)) != words.end();
      if (is_named) text += fmt::format("{} = {:#x} ({})\n", one.name, one.value, one.value);
    }
    return text.empty() ? "no such register here\n" : text;
  }
  if (verb == "set" && words.size() >= 3) {
    // "set %r1 5" or "set %r1 = 5".
    const bool is_set = words.size() <= 4 && (words.size() == 3 || words[2] == "=") &&
                        stopped.set_register(thread_, words[1], words.back());
    return is_set ? "done\n"
                  : "set takes a register of this function and a number that fits in it\n";
  }
  if (verb == "break" && words.size() == 2) return add_line(words[1]);
  if (verb == "delete") {
    lines_.clear();
    line_at_.clear();
    return "all lines are forgotten\n";
  }
  const bool is_switch = words.size() == 2 && (words[1] == "on" || words[1] == "off");
  if (is_switch && verb == "launches") stops_at_launches_ = words[1] == "on";
  if (is_switch && verb == "findings") stops_at_findings_ = words[1] == "on";
  if (is_switch && (verb == "launches" || verb == "findings")) return "done\n";
  return std::string(kHelp);
}

const Insn* op_debug(Exec* x, const Insn* i) {
  x->grid->config->debugger->before(x, i);
  return i + 1;
}

}  // namespace baton::sim
