// Nothing: this GPU's compiler has these instructions itself.
#pragma once
