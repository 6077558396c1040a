// SPDX-License-Identifier: MIT
// Records the files that a test reads: preloaded (LD_PRELOAD) into its processes, it appends each
// file and folder that they open for reading, and each program that they start, below one of the
// folders of $NW_READS_BELOW (':' between two) to the file $NW_READS, a path a line. run_test.py
// makes the test's dependencies of it, so no test has to list them.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Absolute, without symbolic links and `..`; false where there is no such file.
static int resolve(int folder, const char *path, char *out) {
    char relative[PATH_MAX];
    if (path[0] != '/' && folder != AT_FDCWD) {
        char link[64], base[PATH_MAX];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        const ssize_t size = readlink(link, base, sizeof base - 1);
        if (size < 0)
            return 0;
        base[size] = 0;
        if (snprintf(relative, sizeof relative, "%s/%s", base, path) >= (int)sizeof relative)
            return 0;
        path = relative;
    }
    return realpath(path, out) != NULL;
}

static int is_below(const char *path, const char *folders) {
    while (*folders) {
        const size_t size = strcspn(folders, ":");
        if (size && strncmp(path, folders, size) == 0 && (path[size] == '/' || !path[size]))
            return 1;
        folders += size + (folders[size] == ':');
    }
    return 0;
}

// Plain system calls: a program may have replaced more of the C library than this file has.
static void note(int folder, const char *path, int flags) {
    const char *file = getenv("NW_READS"), *below = getenv("NW_READS_BELOW");
    if (!file || !below || !path || (flags & O_ACCMODE) == O_WRONLY || (flags & O_CREAT))
        return;
    const int error = errno;
    char resolved[PATH_MAX + 1];
    if (resolve(folder, path, resolved) && is_below(resolved, below)) {
        const long list =
            syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (list >= 0) {
            strcat(resolved, "\n");
            if (write((int)list, resolved, strlen(resolved)) < 0)
                _exit(99); // a dependency that is lost would be a test that passes though its input
                           // changed
            close((int)list);
        }
    }
    errno = error;
}

#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))
#define MODE                                                                                       \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | __O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...) {                                                   \
        MODE note(AT_FDCWD, path, flags);                                                          \
        return NEXT(name)(path, flags, mode);                                                      \
    }
#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...) {                                       \
        MODE note(folder, path, flags);                                                            \
        return NEXT(name)(folder, path, flags, mode);                                              \
    }
#define FOPEN(name)                                                                                \
    FILE *name(const char *path, const char *how) {                                                \
        note(AT_FDCWD, path, how[0] == 'r' ? O_RDONLY : O_WRONLY);                                 \
        return NEXT(name)(path, how);                                                              \
    }
// Names of these functions in programs that were compiled with _FORTIFY_SOURCE.
#define OPEN_2(name)                                                                               \
    int name(const char *path, int flags) {                                                        \
        note(AT_FDCWD, path, flags);                                                               \
        return NEXT(name)(path, flags);                                                            \
    }
#define OPENAT_2(name)                                                                             \
    int name(int folder, const char *path, int flags) {                                            \
        note(folder, path, flags);                                                                 \
        return NEXT(name)(folder, path, flags);                                                    \
    }
int __open_2(const char *, int), __open64_2(const char *, int);
int __openat_2(int, const char *, int), __openat64_2(int, const char *, int);
OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

int execve(const char *path, char *const words[], char *const environment[]) {
    note(AT_FDCWD, path, O_RDONLY);
    return NEXT(execve)(path, words, environment);
}
int execv(const char *path, char *const words[]) {
    note(AT_FDCWD, path, O_RDONLY);
    return NEXT(execv)(path, words);
}
int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[],
                char *const environment[]) {
    note(AT_FDCWD, path, O_RDONLY);
    return NEXT(posix_spawn)(pid, path, actions, attributes, words, environment);
}

DIR *opendir(const char *path) {
    note(AT_FDCWD, path, O_RDONLY);
    return NEXT(opendir)(path);
}
