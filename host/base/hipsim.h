/* SPDX-License-Identifier: MIT
 * Functions that the simulated libamdhip64.so exports in addition to HIP: devices with their own
 * settings. Real libraries lack them: use dlsym. Each returns a hipError_t, 0 for success. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a device for "gfx1151?timing=on&check=wait,init", with an ordinal for hipSetDevice and all
 * calls; "6800 XT" is "gfx1030?part=6800 XT". hipGetDeviceCount doesn't count it. Settings that
 * `spec` lacks come from HIPSIM_*, else from `defaults` ("timing=on&threads=1" or null). Settings:
 *   timing=off|on|exact  part=8060S  profile=FILE          HIPSIM_TIMING, _PART, _PROFILE
 *   check=off|mem,init,wait,race|all  math=exact|fast      HIPSIM_CHECK, _MATH
 *   choices=NAME=VALUE,...                                 HIPSIM_CHOICES
 *   threads=N  max_insts=N  dump=1                         HIPSIM_THREADS, _MAX_INSTS, _DUMP
 *   uncertainty=5  cold=weights  warm=code                 HIPSIM_UNCERTAINTY, _COLD, _WARM
 *   stats=on                                               records launches for hipsimTakeStats
 * `own` = 0: the same device for the same spec. 1: a new device of its own, until
 * hipsimCloseDevice; freeing memory of other devices does not wait for its commands. */
int hipsimOpenDevice(const char *spec, const char *defaults, int own, int *ordinal);

/* Closes a device opened with `own`, after its memory, modules, streams and events are gone. */
int hipsimCloseDevice(int ordinal);

/* Waits for all launches, then calls line(text, user) for each launch since the last call, with
 * the JSON line of HIPSIM_STATS. */
int hipsimTakeStats(int ordinal, void (*line)(const char *text, void *user), void *user);

/* Calls json(text, user) with the timing model's constants of a part, named as "8060S", or by gfx
 * as "gfx1151" (HIPSIM_PART, else its default part), at the clock of HIPSIM_CLOCK: {part, gfx,
 * constants: [{name, section, value, unit, origin, likely_low, likely_high, note, lowest, highest,
 * what}]}, as nw constants --json. */
int hipsimPartConstants(const char *part, void (*json)(const char *text, void *user), void *user);

/* Reason why this thread's last call of these failed; else why HIP has no device, if a HIPSIM_*
 * variable is unknown or has an invalid value. */
const char *hipsimLastMessage(void);

#ifdef __cplusplus
}
#endif
