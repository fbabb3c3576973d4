/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the system calls that write below one folder fail, stop half-way or end the process: the n-th one, or all from
 * the n-th on. Loaded with LD_PRELOAD; the process that is to be hit calls fault_arm() (common.py does, with ctypes).
 * Programs that it starts are not hit: they begin unarmed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 0, FAIL = 1, KILL = 2, KILL_HALFWAY = 3, SWAP = 4 };
struct shared { long calls; char hit[512]; };

static struct shared *page;
static int armed, kind, error_number, sticky;
static long at;
static char root[PATH_MAX];
static char swap_from[PATH_MAX], swap_to[PATH_MAX];
static long clock_offset;

#define REAL(name) ({ static __typeof__(&name) real; if (!real) real = dlsym(RTLD_NEXT, #name); real; })

__attribute__((constructor)) static void start(void) {
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

void fault_arm(long n, int what, int err, int all_after, const char *folder) {
    page->calls = 0;
    page->hit[0] = 0;
    at = n; kind = what; error_number = err; sticky = all_after;
    snprintf(root, sizeof root, "%s", folder);
    armed = 1;
}
void fault_swap(const char *from, const char *to) {
    snprintf(swap_from, sizeof swap_from, "%s", from);
    snprintf(swap_to, sizeof swap_to, "%s", to);
}
static void (*watcher)(const char *, const char *);
static __thread int watching;
void fault_watch(void (*function)(const char *, const char *)) { watcher = function; }
void fault_clock(long seconds) { clock_offset = seconds; }
long fault_calls(void) { return page->calls; }
const char *fault_hit(void) { return page->hit; }

/* 1: this call is the one */
static int due(const char *call, const char *path) {
    char meant[PATH_MAX];
    if (armed && path && !strncmp(path, "/proc/self/fd/", 14)) {
        ssize_t size = readlink(path, meant, sizeof meant - 1);
        if (size > 0) { meant[size] = 0; path = meant; }
    }
    if (!armed || !path || strncmp(path, root, strlen(root))) return 0;
    if (watcher && !watching) {
        int saved = errno;
        watching = 1;
        watcher(call, path);
        watching = 0;
        errno = saved;
    }
    long n = __sync_add_and_fetch(&page->calls, 1);
    if (kind == COUNT || !(n == at || (sticky && n > at))) return 0;
    if (!page->hit[0]) snprintf(page->hit, sizeof page->hit, "%s %s", call, path);
    if (kind == KILL) kill(getpid(), SIGKILL);
    if (kind == SWAP) { /* somebody else puts another file there, and the call goes on */
        if (syscall(SYS_renameat2, AT_FDCWD, swap_from, AT_FDCWD, swap_to, 2)) /* both at once, if both are there */
            syscall(SYS_renameat2, AT_FDCWD, swap_from, AT_FDCWD, swap_to, 0);
        return 0;
    }
    errno = error_number;
    return 1;
}
static const char *path_of(int fd, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, into, PATH_MAX - 1);
    if (size < 0) return NULL;
    into[size] = 0;
    return into;
}
static const char *at_of(int folder, const char *path, char *into) {
    if (!path || path[0] == '/') return path;
    if (folder == AT_FDCWD) { if (!getcwd(into, PATH_MAX)) return NULL; }
    else if (!path_of(folder, into)) return NULL;
    size_t used = strlen(into);
    snprintf(into + used, PATH_MAX - used, "/%s", path);
    return into;
}

#define PATH_CALL(name, result, declared, passed, path) \
    result name declared { if (due(#name, path)) return -1; return REAL(name) passed; }
#define FD_CALL(name, result, declared, passed) \
    result name declared { char buffer[PATH_MAX]; int saved = errno; const char *path = armed ? path_of(fd, buffer) : NULL; \
        errno = saved; if (due(#name, path)) return -1; return REAL(name) passed; }
#define AT_CALL(name, result, declared, passed, folder, path) \
    result name declared { char buffer[PATH_MAX]; const char *whole = armed ? at_of(folder, path, buffer) : NULL; \
        if (due(#name, whole)) return -1; return REAL(name) passed; }

#define WRITES (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC | O_PATH) /* O_PATH: chmod and chown come next */
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        if ((flags & WRITES) && due(#name, path)) return -1; \
        return REAL(name)(path, flags, mode); }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
        char buffer[PATH_MAX]; const char *whole = armed ? at_of(folder, path, buffer) : NULL; \
        if ((flags & WRITES) && due(#name, whole)) return -1; \
        return REAL(name)(folder, path, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

/* a disk that is full, and a kill, may leave the first half of what was to be written */
#define WRITE(name, declared, passed, halved, size) \
    ssize_t name declared { \
        char buffer[PATH_MAX]; int saved = errno; const char *path = armed ? path_of(fd, buffer) : NULL; errno = saved; \
        if (due(#name, path)) { \
            if (size > 1 && (kind == KILL_HALFWAY || error_number == ENOSPC)) REAL(name) halved; \
            if (kind == KILL_HALFWAY) kill(getpid(), SIGKILL); \
            errno = error_number; return -1; } \
        return REAL(name) passed; }
WRITE(write, (int fd, const void *data, size_t size), (fd, data, size), (fd, data, size / 2), size)
WRITE(pwrite, (int fd, const void *data, size_t size, off_t where), (fd, data, size, where), (fd, data, size / 2, where), size)
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t where), (fd, data, size, where), (fd, data, size / 2, where), size)
FD_CALL(writev, ssize_t, (int fd, const struct iovec *parts, int count), (fd, parts, count))

FD_CALL(fsync, int, (int fd), (fd))
FD_CALL(fdatasync, int, (int fd), (fd))
FD_CALL(syncfs, int, (int fd), (fd))
FD_CALL(ftruncate, int, (int fd, off_t size), (fd, size))
FD_CALL(ftruncate64, int, (int fd, off64_t size), (fd, size))
FD_CALL(fchmod, int, (int fd, mode_t mode), (fd, mode))
FD_CALL(fchown, int, (int fd, uid_t user, gid_t group), (fd, user, group))
FD_CALL(fsetxattr, int, (int fd, const char *name, const void *data, size_t size, int flags), (fd, name, data, size, flags))
PATH_CALL(rename, int, (const char *old, const char *new), (old, new), new)
PATH_CALL(unlink, int, (const char *path), (path), path)
PATH_CALL(rmdir, int, (const char *path), (path), path)
PATH_CALL(mkdir, int, (const char *path, mode_t mode), (path, mode), path)
PATH_CALL(chmod, int, (const char *path, mode_t mode), (path, mode), path)
PATH_CALL(chown, int, (const char *path, uid_t user, gid_t group), (path, user, group), path)
PATH_CALL(lchown, int, (const char *path, uid_t user, gid_t group), (path, user, group), path)
PATH_CALL(link, int, (const char *old, const char *new), (old, new), new)
PATH_CALL(symlink, int, (const char *old, const char *new), (old, new), new)
PATH_CALL(truncate, int, (const char *path, off_t size), (path, size), path)
PATH_CALL(truncate64, int, (const char *path, off64_t size), (path, size), path)
AT_CALL(renameat, int, (int one, const char *old, int folder, const char *new), (one, old, folder, new), folder, new)
AT_CALL(unlinkat, int, (int folder, const char *path, int flags), (folder, path, flags), folder, path)
AT_CALL(mkdirat, int, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path)
AT_CALL(fchmodat, int, (int folder, const char *path, mode_t mode, int flags), (folder, path, mode, flags), folder, path)
AT_CALL(fchownat, int, (int folder, const char *path, uid_t user, gid_t group, int flags), (folder, path, user, group, flags), folder, path)
AT_CALL(mknodat, int, (int folder, const char *path, mode_t mode, dev_t device), (folder, path, mode, device), folder, path)
AT_CALL(linkat, int, (int one, const char *old, int folder, const char *new, int flags), (one, old, folder, new, flags), folder, new)
AT_CALL(symlinkat, int, (const char *old, int folder, const char *new), (old, folder, new), folder, new)
AT_CALL(utimensat, int, (int folder, const char *path, const struct timespec times[2], int flags), (folder, path, times, flags), folder, path)

/* a clock that was set */
int clock_gettime(clockid_t id, struct timespec *now) {
    int done = REAL(clock_gettime)(id, now);
    if (!done && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += clock_offset;
    return done;
}
time_t time(time_t *into) {
    time_t now = REAL(time)(NULL) + clock_offset;
    if (into) *into = now;
    return now;
}
