#include "bundle/check.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "baton/dtype.h"
#include "baton/image.h"
#include "bundle/index.h"

namespace baton::bundle {
namespace {

bool is_known(std::string_view name) {
  return name == kProgramSection || name == kRecordSection || name.starts_with(kImageFolder) ||
         name.starts_with(kSourceFolder) || name.starts_with(kFileFolder) ||
         name.starts_with(kTunedFolder);
}

// Whether a folder may take a file of that name: it leads nowhere else.
bool is_path_inside(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

class IndexCheck {
 public:
  IndexCheck(const Index& index, std::uint64_t file_size, const std::string& name,
             std::vector<std::string>& skipped)
      : index_(index),
        strings_(index.strings.bytes().size()),
        file_size_(file_size),
        name_(name),
        skipped_(skipped) {}

  void run() {
    sections();
    signing();
    images();
    verdicts();
    if (index_.program.size() != 1) {
      fail("the table program has {} rows, one is needed", index_.program.size());
    }
    each(index_.program, "program", [&](const ProgramRow& row) {
      text(row.name);
      section(row.section);
    });
    each(index_.files, "files", [&](const FileRow& row) {
      text(row.buffer);
      section(row.section);
    });
    Cover uses, builds;
    each(index_.modules, "modules", [&](const ModuleRow& row) {
      text(row.name);
      range(row.uses, uses, index_.uses.size());
      range(row.builds, builds, index_.builds.size());
      if (row.uses.count == 0 || row.builds.count == 0) fail("it has no kernel or no build");
      if (row.source != kNone) section(row.source);
      below(row.is_source, 2, "is_source");
    });
    complete(uses, index_.uses.size(), "uses");
    complete(builds, index_.builds.size(), "builds");
    each(index_.uses, "uses", [&](const UseRow& row) { text(row.kernel); });
    Cover symbols, compiled;
    each(index_.builds, "builds", [&](const BuildRow& row) {
      text(row.arch);
      text(row.log);
      image(row.ptx, true);
      image(row.code, false);
      if (row.ptx == kNone && row.code == kNone) fail("it has no image");
      range(row.symbols, symbols, index_.symbols.size());
      range(row.compiled, compiled, index_.compiled.size());
    });
    complete(symbols, index_.symbols.size(), "symbols");
    complete(compiled, index_.compiled.size(), "compiled");
    each(index_.symbols, "symbols", [&](const SymbolRow& row) {
      text(row.expression);
      text(row.symbol);
    });
    each(index_.compiled, "compiled", [&](const CompiledRow& row) { text(row.symbol); });
  }

 private:
  // How far the ranges of one field have come.
  struct Cover {
    std::uint64_t next = 0;
  };

  // Out of line, so that the checks themselves are inlined: opening a bundle makes thousands.
  template <typename... Args>
  [[noreturn, gnu::cold, gnu::noinline]] void fail(fmt::format_string<Args...> format,
                                                   Args&&... args) {
    const std::string place =
        table_.empty() ? "" : fmt::format(", row {} of the table {}", row_, table_);
    throw error(ErrorCode::kInvalidInput, "{}: its index is wrong{}: {}", name_, place,
                fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename Row, typename Check>
  void each(const IndexTable<Row>& table, std::string_view name, Check&& check) {
    table_ = name;
    for (row_ = 0; row_ < table.size(); ++row_) check(table[row_]);
    table_ = {};
  }

  void below(std::uint64_t value, std::uint64_t end, const char* what) {
    if (value >= end) fail("{} is {}, it must be below {}", what, value, end);
  }
  void text(TextRef ref) {
    if (ref.offset > strings_ || ref.size > strings_ - ref.offset) {
      fail("a text of {} bytes at byte {} of {}", ref.size, ref.offset, strings_);
    }
  }
  // A list of them would be an array, which compilers build and read again.
  template <typename... Refs>
  void texts(Refs... refs) {
    (text(refs), ...);
  }
  template <typename... Values>
  void numbers(Values... values) {
    (number(values), ...);
  }
  template <typename... Values>
  void tristates(Values... values) {
    (tristate(values), ...);
  }
  template <typename... Values>
  void truths(Values... values) {
    (below(values, 2, "a truth value"), ...);
  }
  void section(std::uint32_t number) { below(number, index_.sections.size(), "a section"); }
  void image(std::uint32_t number, bool is_ptx) {
    if (number == kNone) return;
    below(number, index_.images.size(), "an image");
    const bool found = static_cast<ImageKind>(index_.images[number].kind) == ImageKind::kPtx;
    if (found != is_ptx) fail("image {} is {}PTX", number, found ? "" : "not ");
  }
  // Rows that two ranges share would make much of little.
  void range(RangeRef ref, Cover& cover, std::uint64_t rows) {
    if (ref.first != cover.next || ref.count > rows - ref.first) {
      fail("a range of {} rows from {} on, where {} comes next of {}", ref.count, ref.first,
           cover.next, rows);
    }
    cover.next += ref.count;
  }
  void complete(const Cover& cover, std::uint64_t rows, const char* table) {
    if (cover.next != rows) fail("{} of {} rows of the table {} are used", cover.next, rows, table);
  }
  void tristate(std::uint8_t value) {
    if (value > 1 && value != kNotSaid) fail("a truth value is {}", value);
  }
  void number(std::int64_t value, std::int64_t greatest = 0xFFFFFFFF) {
    if (value < -1 || value > greatest) fail("a number is {}, at most {}", value, greatest);
  }

  void sections() {
    std::uint64_t end = sections_end_ = kPage + index_.bytes().size();
    std::string_view last;
    each(index_.sections, "sections", [&](const SectionRow& row) {
      text(row.name);
      const std::string_view own = index_.text(row.name);
      if (!is_path_inside(own)) fail("\"{}\" cannot name a section", printable(own));
      if (own <= last) fail("\"{}\" comes after \"{}\"", printable(own), printable(last));
      last = own;
      if (row.offset % kPage != 0) {
        fail("the section {} begins at byte {}, and not at a multiple of {}", printable(own),
             row.offset, kPage);
      }
      if (row.offset < end || row.offset > file_size_ || row.size > file_size_ - row.offset) {
        fail(
            "the section {}, {} bytes at byte {}, does not lie between byte {} and the end at byte "
            "{}",
            printable(own), row.size, row.offset, end, file_size_);
      }
      end = row.offset + row.size;
      sections_end_ = end;
      if (is_known(own)) return;
      if ((row.flags & kRequired) != 0) {
        throw error(
            ErrorCode::kInvalidInput,
            "{} requires the section \"{}\", which this Baton does not know; use a later Baton",
            name_, printable(own));
      }
      skipped_.push_back(fmt::format("the section {}", printable(own)));
    });
  }

  void signing() {
    if (index_.signing.size() > 1) {
      fail("the table signing has {} rows, at most one is possible", index_.signing.size());
    }
    each(index_.signing, "signing", [&](const SigningRow& row) {
      if (row.offset >= sections_end_ && row.offset <= file_size_ &&
          row.size <= file_size_ - row.offset) {
        return;
      }
      fail(
          "the signature, {} bytes at byte {}, does not lie between byte {} and the end at byte {}",
          row.size, row.offset, sections_end_, file_size_);
    });
  }

  void verdicts() {
    Cover starts, edges, proofs;
    each(index_.verdicts, "verdicts", [&](const VerdictRow& row) {
      text(row.symbols);
      text(row.answers);
      range(row.starts, starts, index_.verdict_starts.size());
      range(row.edges, edges, index_.verdict_edges.size());
      range(row.proofs, proofs, index_.verdict_proofs.size());
      below(row.of_setup, 2, "of_setup");
    });
    complete(starts, index_.verdict_starts.size(), "verdict_starts");
    complete(edges, index_.verdict_edges.size(), "verdict_edges");
    complete(proofs, index_.verdict_proofs.size(), "verdict_proofs");
    each(index_.verdict_starts, "verdict_starts", [&](const VerdictStartRow& row) {
      truths(row.early, row.waits, row.by_values, row.triggers, row.lets_in_early);
    });
    each(index_.verdict_edges, "verdict_edges", [&](const VerdictEdgeRow& row) {
      texts(row.verdict, row.cause, row.reason, row.decision, row.decision_reason);
      below(row.programmatic, 2, "programmatic");
    });
    each(index_.verdict_proofs, "verdict_proofs",
         [&](const VerdictProofRow& row) { text(row.kernel); });
  }

  void images() {
    Cover kernels, variables, members, remarks, params;
    each(index_.images, "images", [&](const ImageRow& row) {
      texts(row.arch, row.producer, row.toolkit, row.ptx_version);
      section(row.section);
      below(row.kind, 3, "the kind");
      tristate(row.linked);
      if (row.debug != kNotSaid) below(row.debug, 3, "the debug information");
      number(row.abi, 0x7FFFFFFF);
      range(row.kernels, kernels, index_.kernels.size());
      range(row.variables, variables, index_.variables.size());
      range(row.members, members, index_.members.size());
      range(row.remarks, remarks, index_.remarks.size());
    });
    complete(kernels, index_.kernels.size(), "kernels");
    complete(variables, index_.variables.size(), "variables");
    complete(members, index_.members.size(), "members");
    complete(remarks, index_.remarks.size(), "remarks");
    each(index_.kernels, "kernels", [&](const KernelRow& row) {
      texts(row.name, row.demangled, row.arch);
      range(row.params, params, index_.params.size());
      numbers(row.registers, row.static_shared, row.local_bytes, row.max_threads, row.max_registers,
              row.spill_bytes, row.max_cluster, row.min_blocks, row.barriers);
      below(row.has_params, 2, "has_params");
      tristates(row.grid_in_clusters, row.waits, row.triggers, row.grid_sync, row.polls);
    });
    complete(params, index_.params.size(), "params");
    each(index_.params, "params", [&](const ParamRow& row) {
      texts(row.type, row.name);
      below(row.kind, 5, "the kind");
      if (row.dtype != kNotSaid) below(row.dtype, dtype_names().size(), "the dtype");
      below(row.read_only, 2, "read_only");
    });
    each(index_.variables, "variables", [&](const VariableRow& row) {
      text(row.name);
      below(row.constant, 2, "constant");
    });
    each(index_.members, "members", [&](const MemberRow& row) {
      texts(row.arch, row.source, row.options);
      below(row.kind, 3, "the kind");
      below(row.packing, 3, "the packing");
    });
    each(index_.remarks, "remarks", [&](const RemarkRow& row) { text(row.text); });
  }

  const Index& index_;
  const std::uint64_t strings_;  // bytes of the table
  const std::uint64_t file_size_;
  const std::string& name_;
  std::vector<std::string>& skipped_;
  std::string_view table_;
  std::uint64_t row_ = 0;
  std::uint64_t sections_end_ = 0;
};

}  // namespace

std::vector<std::string> check(const Index& index, std::uint64_t file_size, const std::string& name,
                               std::vector<std::string> skipped) {
  IndexCheck(index, file_size, name, skipped).run();
  return skipped;
}

}  // namespace baton::bundle
