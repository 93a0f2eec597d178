#pragma once

#include <vector>

#include "baton/bundle.h"
#include "bundle/index.h"
#include "bundle/index_writer.h"
#include "edges/judgement.h"

namespace baton::bundle {

// Judgements as rows of the index, both ways. Those with a verdict, cause or decision that this
// version does not know are left out. The numbers of launches in them are not checked:
// Judgement::is_sound does that.
void write_judgement(const edges::KeptJudgement& kept, IndexWriter& out);
std::vector<edges::KeptJudgement> read_judgements(const Index& index);

// What loading a bundle's program takes from it. The judgements stay unread until they are asked
// for.
edges::KnownVerdicts known_verdicts(const Bundle& bundle);

}  // namespace baton::bundle
