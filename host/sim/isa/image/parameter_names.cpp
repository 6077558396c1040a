// SPDX-License-Identifier: MIT
#include "sim/isa/image/parameter_names.h"

#include <algorithm>
#include <map>

#include "sim/isa/image/dwarf_cursor.h"

namespace nw::sim {

namespace {

// Values of the DWARF 5 standard, sections 7.5.3 and 7.5.4.
enum : u64 { tag_formal_parameter = 5, tag_subprogram = 0x2e };
enum : u64 {
    at_name = 3,
    at_abstract_origin = 0x31,
    at_specification = 0x47,
    at_linkage_name = 0x6e,
    at_str_offsets_base = 0x72
};

struct Attribute {
    u64 name, form;
    i64 constant; // of form_implicit_const
};
struct Abbreviation {
    u64 tag = 0;
    bool has_children = false;
    std::vector<Attribute> attributes;
};

// A function or a parameter.
struct Entry {
    u64 tag = 0;
    std::string_view name, linkage_name;
    u64 origin = 0;            // the entry that has the rest; 0: none
    std::vector<u64> children; // parameters, by offset
};

class InfoReader {
public:
    explicit InfoReader(const Elf &elf)
        : info_(elf.section(".debug_info")), abbreviations_(elf.section(".debug_abbrev")),
          strings_(elf.section(".debug_str")), line_strings_(elf.section(".debug_line_str")),
          string_offsets_(elf.section(".debug_str_offsets")) {}

    void read() {
        DwarfCursor c(info_, 0);
        while (c.at + 4 <= info_.size())
            read_unit(c);
        for (const auto &[offset, entry] : entries_) {
            if (entry.tag != tag_subprogram || entry.children.empty())
                continue;
            const auto linkage_name = resolved(entry, &Entry::linkage_name);
            functions_.emplace(linkage_name.empty() ? resolved(entry, &Entry::name) : linkage_name,
                               &entry);
        }
    }
    // The parameters of the function with this symbol; empty if it is not known.
    std::vector<std::string> parameters(std::string_view symbol) const {
        std::vector<std::string> names;
        if (const auto at = functions_.find(symbol); at != functions_.end())
            for (const u64 child : at->second->children)
                names.emplace_back(resolved(entries_.at(child), &Entry::name));
        return names;
    }

private:
    struct Unit {
        u64 start = 0, end = 0, string_base = 8;
        u16 version = 0;
        u8 address_bytes = 8;
        std::map<u64, Abbreviation> abbreviations;
    };

    std::string_view resolved(const Entry &entry, std::string_view Entry::*what) const {
        const Entry *at = &entry;
        for (int hops = 0; hops < 4; ++hops) { // an origin may be a definition with a declaration
            if (!(at->*what).empty() || at->origin == 0)
                break;
            const auto next = entries_.find(at->origin);
            if (next == entries_.end())
                break;
            at = &next->second;
        }
        return at->*what;
    }

    // Units share abbreviations and entries share attributes, so their sum is not limited by the
    // file's size.
    void count_work(u64 items) {
        constexpr u64 most = 16 << 20;
        work_ += items;
        if (work_ > most)
            throw BadImage(".debug_info is too large");
    }

    std::map<u64, Abbreviation> read_abbreviations(u64 at) {
        std::map<u64, Abbreviation> out;
        DwarfCursor c(abbreviations_, at);
        while (const u64 code = c.uleb()) {
            Abbreviation &one = out[code];
            one.tag = c.uleb();
            one.has_children = c.take<u8>() != 0;
            for (;;) {
                Attribute a{c.uleb(), c.uleb(), 0};
                if (a.form == form_implicit_const)
                    a.constant = c.sleb();
                if (a.name == 0 && a.form == 0)
                    break;
                count_work(1);
                one.attributes.push_back(a);
            }
        }
        return out;
    }

    void read_unit(DwarfCursor &c) {
        Unit unit;
        unit.start = c.at;
        const u64 length = c.take<u32>();
        if (length == 0xffffffff)
            throw BadImage("64-bit DWARF");
        unit.end = c.at + length;
        info_.slice(c.at, length);
        unit.version = c.take<u16>();
        u64 table = 0;
        if (unit.version == 5) {
            const u8 type = c.take<u8>();
            unit.address_bytes = c.take<u8>();
            table = c.take<u32>();
            if (type != 1) // not of whole compilations
                unit.version = 0;
        } else if (unit.version == 4) {
            table = c.take<u32>();
            unit.address_bytes = c.take<u8>();
        }
        if (unit.version == 4 || unit.version == 5) {
            unit.abbreviations = read_abbreviations(table);
            read_entries(unit, c);
        }
        c.at = unit.end;
    }

    void read_entries(Unit &unit, DwarfCursor &c) {
        std::vector<u64> parents;
        while (c.at < unit.end) {
            const u64 offset = c.at, code = c.uleb();
            if (code == 0) {
                if (!parents.empty())
                    parents.pop_back();
                continue;
            }
            const auto found = unit.abbreviations.find(code);
            if (found == unit.abbreviations.end())
                throw BadImage("an entry of .debug_info has an unknown abbreviation");
            const Abbreviation &shape = found->second;
            Entry entry;
            entry.tag = shape.tag;
            count_work(1 + shape.attributes.size());
            for (const Attribute &a : shape.attributes)
                read_attribute(unit, c, a.name, a.form, entry);
            const bool parameter = shape.tag == tag_formal_parameter;
            if (parameter && !parents.empty())
                if (const auto parent = entries_.find(parents.back()); parent != entries_.end())
                    parent->second.children.push_back(offset);
            if (parameter || shape.tag == tag_subprogram)
                entries_.emplace(offset, std::move(entry));
            if (shape.has_children)
                parents.push_back(offset);
        }
    }

    void read_attribute(Unit &unit, DwarfCursor &c, u64 name, u64 form, Entry &entry) {
        if (form == form_indirect)
            form = c.uleb();
        const u64 at = c.at;
        skip(unit, c, form);
        if (name == at_str_offsets_base)
            unit.string_base = DwarfCursor(info_, at).take<u32>();
        else if (name == at_name)
            entry.name = string(unit, at, form);
        else if (name == at_linkage_name)
            entry.linkage_name = string(unit, at, form);
        else if (name == at_abstract_origin || name == at_specification)
            entry.origin = reference(unit, at, form);
    }

    u64 reference(const Unit &unit, u64 at, u64 form) const {
        DwarfCursor c(info_, at);
        switch (form) {
        case form_ref1:
            return unit.start + c.take<u8>();
        case form_ref2:
            return unit.start + c.take<u16>();
        case form_ref4:
            return unit.start + c.take<u32>();
        case form_ref8:
            return unit.start + c.take<u64>();
        case form_ref_udata:
            return unit.start + c.uleb();
        case form_ref_addr:
            return c.take<u32>();
        default:
            return 0;
        }
    }

    std::string_view string(const Unit &unit, u64 at, u64 form) const {
        DwarfCursor c(info_, at);
        const auto by_index = [&](u64 index) {
            return strings_.string(string_offsets_.read<u32>(unit.string_base + 4 * index));
        };
        switch (form) {
        case form_string:
            return c.string();
        case form_strp:
            return strings_.string(c.take<u32>());
        case form_line_strp:
            return line_strings_.string(c.take<u32>());
        case form_strx:
            return by_index(c.uleb());
        case form_strx1:
            return by_index(c.take<u8>());
        case form_strx2:
            return by_index(c.take<u16>());
        case form_strx3:
            return by_index(c.take<u16>() | u64{c.take<u8>()} << 16);
        case form_strx4:
            return by_index(c.take<u32>());
        default:
            return {};
        }
    }

    static void skip(const Unit &unit, DwarfCursor &c, u64 form) {
        switch (form) {
        case form_flag_present:
        case form_implicit_const:
            return;
        case form_data1:
        case form_flag:
        case form_ref1:
        case form_strx1:
        case form_addrx1:
            return c.skip(1);
        case form_data2:
        case form_ref2:
        case form_strx2:
        case form_addrx2:
            return c.skip(2);
        case form_strx3:
        case form_addrx3:
            return c.skip(3);
        case form_data4:
        case form_ref4:
        case form_ref_addr:
        case form_strp:
        case form_line_strp:
        case form_sec_offset:
        case form_strx4:
        case form_addrx4:
            return c.skip(4);
        case form_data8:
        case form_ref8:
        case form_ref_sig8:
            return c.skip(8);
        case form_data16:
            return c.skip(16);
        case form_addr:
            return c.skip(unit.address_bytes);
        case form_udata:
        case form_sdata:
        case form_ref_udata:
        case form_strx:
        case form_addrx:
        case form_loclistx:
        case form_rnglistx:
            static_cast<void>(c.uleb());
            return;
        case form_string:
            static_cast<void>(c.string());
            return;
        case form_block1:
            return c.skip(c.take<u8>());
        case form_block2:
            return c.skip(c.take<u16>());
        case form_block4:
            return c.skip(c.take<u32>());
        case form_block:
        case form_exprloc:
            return c.skip(c.uleb());
        default:
            throw BadImage("unexpected DWARF form in .debug_info");
        }
    }

    const Bytes info_, abbreviations_, strings_, line_strings_, string_offsets_;
    std::map<u64, Entry> entries_;                        // by offset
    std::map<std::string_view, const Entry *> functions_; // with parameters, by symbol
    u64 work_ = 0;
};

bool is_explicit(const Arg &arg) { return !is_hidden(arg); }

} // namespace

void add_parameter_names(const Elf &elf, std::vector<KernelInfo> &kernels) {
    const auto unnamed = [](const KernelInfo &kernel) {
        const auto has_none = [](const Arg &arg) { return is_explicit(arg) && arg.name.empty(); };
        return std::ranges::any_of(kernel.args, has_none);
    };
    if (std::ranges::none_of(kernels, unnamed) || elf.section(".debug_info").empty())
        return;
    try {
        InfoReader reader(elf);
        reader.read();
        for (KernelInfo &kernel : kernels) {
            const auto names = reader.parameters(kernel.name);
            if (static_cast<u64>(std::ranges::count_if(kernel.args, is_explicit)) != names.size())
                continue;
            size_t n = 0;
            for (Arg &arg : kernel.args)
                if (is_explicit(arg)) {
                    if (arg.name.empty())
                        arg.name = names[n];
                    ++n;
                }
        }
    } catch (const BadImage &) {
    }
}

} // namespace nw::sim
