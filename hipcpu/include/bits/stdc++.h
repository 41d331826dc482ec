// The prelude has the whole C++ library already.
#pragma once
