#include <cstdio>
#include <time.h>

int main() {
    for (int i = 0; i < 600; i++) {
        printf("tick %d\n", i);
        fflush(stdout);
        timespec pause = {0, 100 * 1000 * 1000};
        nanosleep(&pause, nullptr);
    }
    return 0;
}
