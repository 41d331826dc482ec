// A graph that was made ready for launches is a copy of it, whose nodes are found and changed by the original's.
#pragma once

#include "graph.h"

namespace wavepool::graphs {

// The copy of `node` in a cloned graph or the child graphs of it; null if there is none.
hipGraphNode_t copy_in(const ihipGraph& graph, const hipGraphNode* node);

// Gives `old` the parameters of `changed`, which has to have the same nodes in the same order with the same
// dependencies; else nothing is changed, and `different` is the first node of `changed` that is not as in `old`.
hipGraphExecUpdateResult update(ihipGraph& old, const ihipGraph& changed, hipGraphNode_t* different);

}  // namespace wavepool::graphs
