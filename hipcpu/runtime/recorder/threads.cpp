// Threads of the submission's host code, one after another: whoever starts one lets it finish, so that what several of
// them ask for is in one order in each recording. One that goes on for longer, as it waits for another, is let run.
#include <pthread.h>
#include <time.h>

#include <memory>

namespace {
constexpr long kLetFinishNs = 200'000'000;

struct Start {
    void* (*function)(void*);
    void* argument;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
    bool has_ended = false;
};

void* run(void* pointer) {
    const std::unique_ptr<std::shared_ptr<Start>> owned(static_cast<std::shared_ptr<Start>*>(pointer));
    Start& start = **owned;
    void* result = start.function(start.argument);
    pthread_mutex_lock(&start.mutex);
    start.has_ended = true;
    pthread_cond_signal(&start.ended);
    pthread_mutex_unlock(&start.mutex);
    return result;
}

void let_finish(Start& start) {
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kLetFinishNs;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    pthread_mutex_lock(&start.mutex);
    while (!start.has_ended && pthread_cond_timedwait(&start.ended, &start.mutex, &until) == 0) {
    }
    pthread_mutex_unlock(&start.mutex);
}
}  // namespace

extern "C" {
int __real_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* argument) {
    auto start = std::make_shared<Start>(Start{function, argument});
    auto* passed = new std::shared_ptr<Start>(start);
    const int error = __real_pthread_create(thread, attributes, run, passed);
    if (error == 0) let_finish(*start);
    else delete passed;
    return error;
}
}
