// Nothing: the cpu device has an exponential of its own here, and this GPU's compiler has one already.
#pragma once
