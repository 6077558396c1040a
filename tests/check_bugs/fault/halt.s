// SPDX-License-Identifier: MIT
// A wave that halts itself, with nobody to resume it.
// run: gfx=gfx1151,gfx1201
        .include        "begin.s"
        s_sethalt       BUG // expect: fault endless
        .include        "end.s"
