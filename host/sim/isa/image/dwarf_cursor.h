// SPDX-License-Identifier: MIT
// Reads DWARF's encodings, from untrusted bytes: throws BadImage past their end.
#pragma once
#include "sim/isa/image/elf.h"

namespace nw::sim {

class DwarfCursor {
public:
    DwarfCursor(const Bytes &bytes, u64 at) : bytes_(&bytes), at(at) {}

    template <class T> T take() {
        T value = bytes_->read<T>(at);
        at += sizeof(T);
        return value;
    }
    u64 uleb() {
        u64 value = 0;
        for (unsigned shift = 0;; shift += 7) {
            u8 byte = take<u8>();
            if (shift < 64)
                value |= u64{byte & 0x7fu} << shift;
            if (!(byte & 0x80))
                return value;
        }
    }
    i64 sleb() {
        i64 value = 0;
        unsigned shift = 0;
        u8 byte;
        do {
            byte = take<u8>();
            if (shift < 64)
                value |= static_cast<i64>(u64{byte & 0x7fu} << shift);
            shift += 7;
        } while (byte & 0x80);
        if (shift < 64 && (byte & 0x40))
            value |= static_cast<i64>(~u64{0} << shift);
        return value;
    }
    void skip(u64 bytes) {
        bytes_->slice(at, bytes); // throws past the end
        at += bytes;
    }
    std::string_view string() {
        std::string_view s = bytes_->string(at);
        at += s.size() + 1;
        return s;
    }

private:
    const Bytes *bytes_;

public:
    u64 at;
};

// Section 7.5.6 of the DWARF 5 standard.
enum : u16 {
    form_addr = 1,
    form_block2 = 3,
    form_block4,
    form_data2,
    form_data4,
    form_data8,
    form_string,
    form_block,
    form_block1,
    form_data1,
    form_flag,
    form_sdata,
    form_strp,
    form_udata,
    form_ref_addr,
    form_ref1,
    form_ref2,
    form_ref4,
    form_ref8,
    form_ref_udata,
    form_indirect,
    form_sec_offset,
    form_exprloc,
    form_flag_present,
    form_strx,
    form_addrx,
    form_data16 = 0x1e,
    form_line_strp,
    form_ref_sig8,
    form_implicit_const,
    form_loclistx,
    form_rnglistx,
    form_strx1 = 0x25,
    form_strx2,
    form_strx3,
    form_strx4,
    form_addrx1,
    form_addrx2,
    form_addrx3,
    form_addrx4
};

} // namespace nw::sim
