#include "bundle/check.h"

#include <initializer_list>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "baton/dtype.h"
#include "baton/image.h"
#include "bundle/index.h"

namespace baton::bundle {
namespace {

bool is_known(std::string_view name) {
  return name.starts_with(kImageFolder) || name.starts_with(kSourceFolder) ||
         name.starts_with(kFileFolder) || name.starts_with(kTunedFolder) ||
         name == kProgramSection || name == kRecordSection;
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

// How far the ranges of one field have come.
struct UsedRows {
  std::uint64_t next = 0;
};

// The rules for values of rows. `Judge` has `require(is_fine, format, values...)`.
template <typename Judge>
class RowRules {
 public:
  explicit RowRules(std::uint64_t strings) : strings_(strings) {}

  void below(std::uint64_t value, std::uint64_t end, const char* what) {
    judge().require(value < end, "{} is {}, it must be below {}", what, value, end);
  }
  void text(TextRef ref) {
    judge().require(std::uint64_t{ref.offset} + ref.size <= strings_,
                    "a text of {} bytes at byte {} of {}", ref.size, ref.offset, strings_);
  }
  void tristate(std::uint8_t value) {
    judge().require((value <= 1) | (value == kNotSaid), "a truth value is {}", value);
  }
  void number(std::int64_t value, std::int64_t greatest = 0xFFFFFFFF) {
    judge().require((value >= -1) & (value <= greatest), "a number is {}, at most {}", value,
                    greatest);
  }
  // Rows that two ranges share would make much of little.
  void range(RangeRef ref, UsedRows& cover, std::uint64_t rows) {
    judge().require((ref.first == cover.next) & (ref.count <= rows - ref.first),
                    "a range of {} rows from {} on, where {} comes next of {}", ref.count,
                    ref.first, cover.next, rows);
    cover.next += ref.count;
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

 private:
  Judge& judge() { return static_cast<Judge&>(*this); }

  const std::uint64_t strings_;  // bytes of the table
};

// Whether all rows of a table are fine, without a branch for each value: opening a bundle looks at
// thousands.
class Glance : public RowRules<Glance> {
 public:
  using RowRules::RowRules;

  template <typename... Values>
  void require(bool is_fine, fmt::format_string<const Values&...>, const Values&...) {
    all_fine_ &= is_fine;
  }
  bool all_fine() const { return all_fine_; }

 private:
  bool all_fine_ = true;
};

class IndexCheck : public RowRules<IndexCheck> {
 public:
  IndexCheck(const Index& index, std::uint64_t file_size, const std::string& name,
             std::vector<std::string>& skipped)
      : RowRules(index.strings.bytes().size()),
        index_(index),
        file_size_(file_size),
        name_(name),
        skipped_(skipped) {}

  template <typename... Values>
  void require(bool is_fine, fmt::format_string<const Values&...> format, const Values&... values) {
    if (!is_fine) fail<const Values&...>(format, values...);
  }

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
    UsedRows uses, builds;
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
    each_alike(index_.uses, "uses", {},
               [](auto& judge, const UseRow& row) { judge.text(row.kernel); });
    UsedRows symbols, compiled;
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
    each_alike(index_.symbols, "symbols", {},
               [](auto& judge, const SymbolRow& row) { judge.texts(row.expression, row.symbol); });
    each_alike(index_.compiled, "compiled", {},
               [](auto& judge, const CompiledRow& row) { judge.text(row.symbol); });
  }

 private:
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

  // The same for rows that are judged by RowRules alone, with every judge. `covers` are those of
  // the table's ranges.
  template <typename Row, typename Check>
  void each_alike(const IndexTable<Row>& table, std::string_view name,
                  std::initializer_list<UsedRows*> covers, const Check& check) {
    Glance glance(index_.strings.bytes().size());
    for (std::uint64_t number = 0; number < table.size(); ++number) check(glance, table[number]);
    if (glance.all_fine()) return;
    for (UsedRows* cover : covers) *cover = {};
    each(table, name, [&](const Row& row) { check(*this, row); });
  }

  void section(std::uint32_t number) { below(number, index_.sections.size(), "a section"); }
  void image(std::uint32_t number, bool is_ptx) {
    if (number == kNone) return;
    below(number, index_.images.size(), "an image");
    const bool found = static_cast<ImageKind>(index_.images[number].kind) == ImageKind::kPtx;
    if (found != is_ptx) fail("image {} is {}PTX", number, found ? "" : "not ");
  }
  void complete(const UsedRows& cover, std::uint64_t rows, const char* table) {
    if (cover.next != rows) fail("{} of {} rows of the table {} are used", cover.next, rows, table);
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
    UsedRows starts, edges, proofs;
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
    each_alike(index_.verdict_starts, "verdict_starts", {},
               [](auto& judge, const VerdictStartRow& row) {
                 judge.truths(row.early, row.waits, row.by_values, row.triggers, row.lets_in_early);
               });
    each_alike(index_.verdict_edges, "verdict_edges", {},
               [](auto& judge, const VerdictEdgeRow& row) {
                 judge.texts(row.verdict, row.cause, row.reason, row.decision, row.decision_reason);
                 judge.below(row.programmatic, 2, "programmatic");
               });
    each_alike(index_.verdict_proofs, "verdict_proofs", {},
               [](auto& judge, const VerdictProofRow& row) { judge.text(row.kernel); });
  }

  void images() {
    UsedRows kernels, variables, members, remarks, params;
    const auto image = [&](auto& judge, const ImageRow& row) {
      judge.texts(row.arch, row.producer, row.toolkit, row.ptx_version);
      judge.below(row.section, index_.sections.size(), "a section");
      judge.below(row.kind, 3, "the kind");
      judge.tristate(row.linked);
      if (row.debug != kNotSaid) judge.below(row.debug, 3, "the debug information");
      judge.number(row.abi, 0x7FFFFFFF);
      judge.range(row.kernels, kernels, index_.kernels.size());
      judge.range(row.variables, variables, index_.variables.size());
      judge.range(row.members, members, index_.members.size());
      judge.range(row.remarks, remarks, index_.remarks.size());
    };
    each_alike(index_.images, "images", {&kernels, &variables, &members, &remarks}, image);
    complete(kernels, index_.kernels.size(), "kernels");
    complete(variables, index_.variables.size(), "variables");
    complete(members, index_.members.size(), "members");
    complete(remarks, index_.remarks.size(), "remarks");
    each_alike(index_.kernels, "kernels", {&params}, [&](auto& judge, const KernelRow& row) {
      judge.texts(row.name, row.demangled, row.arch);
      judge.range(row.params, params, index_.params.size());
      judge.numbers(row.registers, row.static_shared, row.local_bytes, row.max_threads,
                    row.max_registers, row.spill_bytes, row.max_cluster, row.min_blocks,
                    row.barriers);
      judge.below(row.has_params, 2, "has_params");
      judge.tristates(row.grid_in_clusters, row.waits, row.triggers, row.grid_sync, row.polls);
    });
    complete(params, index_.params.size(), "params");
    const std::size_t dtypes = dtype_names().size();
    each_alike(index_.params, "params", {}, [dtypes](auto& judge, const ParamRow& row) {
      judge.texts(row.type, row.name);
      judge.below(row.kind, 5, "the kind");
      if (row.dtype != kNotSaid) judge.below(row.dtype, dtypes, "the dtype");
      judge.below(row.read_only, 2, "read_only");
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
    each_alike(index_.remarks, "remarks", {},
               [](auto& judge, const RemarkRow& row) { judge.text(row.text); });
  }

  const Index& index_;
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
