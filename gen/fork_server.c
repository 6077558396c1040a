// SPDX-License-Identifier: MIT
// Preloaded into clang or ld.lld by gen/assemble.py: a fork server. Such a program is loaded in 25
// ms, most of what a small kernel takes, so one process, stopped before main, forks for each
// command.
//
// A command on stdin is a line, decimal counts of bytes and words, then the bytes: directory, name
// of the file for stderr, and the arguments, each ended by NUL. Its exit code is a line on stdout.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);

static main_function *real_main;

static void command(int argc, char **argv, char **environment, const char *directory,
                    const char *said) {
    const int errors = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0666),
              nothing = open("/dev/null", O_RDWR);
    if (errors < 0 || nothing < 0 || dup2(errors, 2) < 0 || dup2(nothing, 0) < 0 ||
        dup2(nothing, 1) < 0 || chdir(directory))
        _exit(127);
    const int code = real_main(argc, argv, environment);
    fflush(NULL);
    _exit(code); // without LLVM's destructors, 6 % of a kernel's time
}

static int served(int argc, char **argv, char **environment) {
    size_t bytes;
    int words;
    while (scanf("%zu %d", &bytes, &words) == 2 && getchar() == '\n') {
        char *text = malloc(bytes), **all = calloc(argc + words + 1, sizeof *all);
        if (!text || !all || words < 2 || fread(text, 1, bytes, stdin) != bytes || text[bytes - 1])
            return 1;
        const char *directory = text, *said = text + strlen(text) + 1;
        memcpy(all, argv, argc * sizeof *all); // a script's are its interpreter and itself
        char *word = (char *)said;
        for (int i = 0; i < words - 2; ++i)
            all[argc + i] = word += strlen(word) + 1;
        const pid_t child = fork();
        if (child == 0)
            command(argc + words - 2, all, environment, directory, said);
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return 1;
        printf("%d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
        fflush(stdout);
        free(all);
        free(text);
    }
    return 0;
}

int __libc_start_main(main_function *main, int argc, char **argv, main_function *init,
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
    __typeof__(&__libc_start_main) start = (__typeof__(start))dlsym(RTLD_NEXT, "__libc_start_main");
    unsetenv("LD_PRELOAD"); // not for programs that this one starts
    real_main = main;
    return start(served, argc, argv, init, fini, rtld_fini, stack_end);
}
