#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baton/bundle.h"
#include "edges/judgement.h"

namespace baton::bundle {

// Judges the edges of a bundle's program.
using Judge = std::function<std::vector<edges::KeptJudgement>(const Bundle&)>;

// write_bundle. `judge`, if given, gets the bundle without the files of its buffers; what it
// returns becomes a part of the file.
std::vector<std::string> build_bundle(const Program& program, const std::filesystem::path& path,
                                      const BundleOptions& options, const Judge& judge);

}  // namespace baton::bundle
