// How the runtime ends a process whose kernel cannot go on: the first line on stderr says why, after "wavepool: ".
#pragma once

namespace wavepool {

// Not 1, which programs return for their own reasons; a SIGABRT would look like a failed assert.
constexpr int kStoppedExit = 86;

}  // namespace wavepool
