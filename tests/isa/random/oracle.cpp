// SPDX-License-Identifier: MIT
#include "isa/random/oracle.h"

namespace nw::oracle {

const Rows &rows() {
    static const Rows all = [] {
        Rows r;
        add_integer_rows(r);
        add_float_rows(r);
        add_convert_rows(r);
        add_divide_rows(r);
        add_compare_rows(r);
        add_packed_rows(r);
        add_dot_rows(r);
        add_scalar_rows(r);
        return r;
    }();
    return all;
}

} // namespace nw::oracle
