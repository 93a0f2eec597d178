// The exit statuses and the environment variables of the command line.

#include "cli/command_line/command_table.h"

namespace baton::cli {
namespace {

constexpr ExitStatusRow kStatuses[] = {
    {"0", "Done"},
    {"1",
     "The program or a kernel is wrong: a mismatch, a finding, a fault, the time-out, a "
     "damaged cache entry; with --strict also a warning"},
    {"2",
     "Bad input or usage, known before anything runs: files, names, expressions, arguments, "
     "limits of the device"},
    {"3",
     "The device or driver failed: none found, out of memory, an instruction that the "
     "simulated GPU lacks"},
    {"130", "Interrupted by SIGINT or SIGTERM; a second one ends the process at once"}};

constexpr EnvironmentRow kVariables[] = {
    {"BATON_DEVICE", "The device, if --device is absent"},
    {"BATON_PDL", "off: no launch overlaps the launch before it; overrides the program and --pdl"},
    {"BATON_TUNE", "off: what baton tune found is left out, as by --untuned"},
    {"BATON_LOG", "error, warning (the default), info or debug: messages on standard error"},
    {"BATON_CACHE_DIR",
     "The folder of the compile cache; default: $XDG_CACHE_HOME/baton, then ~/.cache/baton"},
    {"BATON_CACHE_LAYERS", "Other caches, with colons between them, which are only read"},
    {"BATON_CACHE_SIZE", "Limit of the cache: 500M, 2G (the default); 0: no cache"},
    {"BATON_TRUSTED_KEYS",
     "Files of public keys, with colons between them: a bundle has to be signed with one of them"},
    {"BATON_LIBCRYPTO", "The libcrypto to load, which makes and checks signatures"},
    {"BATON_PTXAS", "The ptxas that baton ptxas runs"},
    {"BATON_NVRTC", "The libnvrtc to load"},
    {"BATON_NVJITLINK", "The libnvJitLink to load"},
    {"BATON_NCCL", "The libnccl to load"},
    {"BATON_CUDA_ROOT",
     "The folder with CUDA's headers and libraries; none: only those among Python's packages"},
    {"BATON_SITE_PACKAGES",
     "Folders of Python packages, with colons between them, to search for NVIDIA's wheels"},
    {"NO_COLOR", "No colours on a terminal"}};

}  // namespace

std::span<const ExitStatusRow> exit_statuses() {
  return kStatuses;
}

std::span<const EnvironmentRow> environment_variables() {
  return kVariables;
}

}  // namespace baton::cli
