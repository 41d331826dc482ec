#include <hip/hip_runtime.h>
#include <pthread.h>
#include <unistd.h>

// A call that never returns, in a process that is found by its name.
extern "C" void solution(const float*, float, float*, size_t, size_t) {
    pthread_setname_np(pthread_self(), "NAME");
    for (;;) pause();
}
