/* A clock that is wrong by CLOCK_SECONDS, for any program that is started with LD_PRELOAD.

   A wait until a time of day is wrong by as much; those of Python and the JVM are monotonic. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t seconds;

__attribute__((constructor)) static void read_seconds(void) {
    const char *text = getenv("CLOCK_SECONDS");
    seconds = text ? atoll(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*asked)(clockid_t, struct timespec *);
    if (!asked) asked = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = asked(clock, now);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        now->tv_sec += seconds;
    }
    return code;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int code = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return code;
}

time_t time(time_t *kept) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (kept) *kept = exact.tv_sec;
    return exact.tv_sec;
}
