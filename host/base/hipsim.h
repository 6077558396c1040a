/* SPDX-License-Identifier: MIT
 * What the simulated libamdhip64.so exports beside HIP: devices with settings of their own. No real
 * one has these names: find them by dlsym. A hipError_t each, 0 for success. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* "gfx1151?timing=on&check=wait,init" becomes a device, by an ordinal for hipSetDevice and all
 * calls; "6800 XT" is "gfx1030?part=6800 XT". hipGetDeviceCount doesn't count it. What `spec`
 * doesn't say, HIPSIM_* do; what they don't, `defaults` ("timing=on&threads=1" or null). Settings:
 *   timing=off|on|exact  part=8060S  profile=FILE          HIPSIM_TIMING, _PART, _PROFILE
 *   check=off|mem,init,wait,race|all  math=exact|fast      HIPSIM_CHECK, _MATH
 *   choices=NAME=VALUE,...                                 HIPSIM_CHOICES
 *   threads=N  max_insts=N  dump=1                         HIPSIM_THREADS, _MAX_INSTS, _DUMP
 *   uncertainty=5  cold=weights  warm=code                 HIPSIM_UNCERTAINTY, _COLD, _WARM
 *   stats=on                                               keeps what hipsimTakeStats gives
 * `own` = 0: the same device for the same words. 1: one of its own, as new, until
 * hipsimCloseDevice; no other device's memory waits for its commands before it goes. */
int hipsimOpenDevice(const char *spec, const char *defaults, int own, int *ordinal);

/* Closes a device opened with `own`, after its memory, modules, streams and events are gone. */
int hipsimCloseDevice(int ordinal);

/* Calls line(text, user) for each launch since the last call, after waiting for all: the JSON that
 * HIPSIM_STATS has. */
int hipsimTakeStats(int ordinal, void (*line)(const char *text, void *user), void *user);

/* Calls json(text, user) with what the model of time takes a part to be, by its name ("8060S") or
 * that of "gfx1151", HIPSIM_PART's or the usual: {part, gfx, constants: [{name, section, value,
 * unit, origin, likely_low, likely_high, note, lowest, highest, what}]}: nw constants --json. */
int hipsimPartConstants(const char *part, void (*json)(const char *text, void *user), void *user);

/* Why this thread's last call of these failed; else why HIP has no device, where a HIPSIM_*
 * variable is unknown or has a value that it can't have. */
const char *hipsimLastMessage(void);

#ifdef __cplusplus
}
#endif
