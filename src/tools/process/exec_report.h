#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "baton/finding.h"
#include "tools/process/suppressions.h"

namespace baton::tools {

// What the processes of one `baton exec` told (shim/process_report.h), merged.
struct ExecReport {
  // A finding, in the order told, and the processes that had it.
  struct Seen {
    FindingReport finding;
    std::vector<std::int64_t> processes;
  };
  // A finding that a suppression took out of the findings.
  struct Suppressed {
    Seen seen;
    std::string reason;
  };
  std::vector<Seen> findings;  // equal ones of all processes are one
  std::vector<Suppressed> suppressed;
  std::map<std::string, std::uint64_t> missing;  // calls by entry
  std::map<std::string, std::uint64_t> images;   // loads by what is wrong with the image
  std::size_t processes = 0;                     // that loaded the library
  std::size_t unreadable = 0;                    // lines that were cut off or are none
  std::size_t lost = 0;                          // processes that could not write all of theirs
  std::size_t other_tools = 0;                   // findings left out (sanitizer_tool.h)
  bool has_threads = true;  // findings have a block and a thread: those of a simulated GPU

  // Adds a finding of a process. Equal ones (kind, kernel and place) become one.
  void add(FindingReport finding, std::int64_t process);
  std::size_t errors() const;
  std::size_t warnings() const;
};

// Reads the files of a folder. A last line without an end was cut off when its process died.
ExecReport read_exec_report(const std::filesystem::path& folder);

// The same of one process alone.
ExecReport read_process_report(const std::filesystem::path& folder, pid_t process);

// Moves the findings that match a suppression, which counts them.
void suppress(ExecReport& report, std::vector<Suppression>& suppressions);

// Leaves the findings of kernels whose name, as written or as the image has it, matches, and leaks
// and errors of calls, which no kernel has.
void keep_kernels(ExecReport& report, const std::regex& pattern);
// Leaves out the findings of such kernels.
void leave_out_kernels(ExecReport& report, const std::regex& pattern);

}  // namespace baton::tools
