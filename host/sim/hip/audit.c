// SPDX-License-Identifier: MIT
// An auditor of the dynamic linker (rtld-audit(7), LD_AUDIT) for nw check: libamdhip64 and
// libhiprtc are taken from the folder that the auditor was loaded from, whatever path or RPATH a
// program has. Wheels and ROCm's own programs bring or name their own.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[4096];

unsigned la_version(unsigned version) {
    Dl_info info;
    if (dladdr((void *)&la_version, &info) && info.dli_fname) {
        const char *end = strrchr(info.dli_fname, '/');
        if (end)
            snprintf(folder, sizeof folder, "%.*s", (int)(end - info.dli_fname), info.dli_fname);
    }
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// "libamdhip64.so.6" of "/opt/rocm/lib/libamdhip64.so.6.2.41133"; 0: another library.
static size_t simulated_name(const char *name) {
    static const char *const names[] = {"libamdhip64.so", "libhiprtc.so"};
    for (unsigned n = 0; n < sizeof names / sizeof *names; ++n) {
        const size_t length = strlen(names[n]);
        if (strncmp(name, names[n], length) != 0)
            continue;
        if (name[length] == 0)
            return length;
        const size_t with_major = length + 1 + strspn(name + length + 1, "0123456789");
        if (name[length] == '.' && with_major > length + 1 &&
            (name[with_major] == 0 || name[with_major] == '.'))
            return with_major;
    }
    return 0;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
    static char path[sizeof folder + 64];
    (void)cookie, (void)flag; // the linker calls this under its lock
    const char *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    const size_t length = simulated_name(base);
    if (!length || !*folder || length > 32)
        return (char *)name;
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)length, base);
    return access(path, R_OK) == 0 ? path : (char *)name;
}
