#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libpfm4 4.13.0 (Debian 12: 4.13.0-1), which PAPI, PCP and others use, encodes some documented Intel events
# as other events. No call fails, and the counts belong to something else. Columns: the event, libpfm4's
# code and unit mask, Intel's (event tables of github.com/intel/perfmon):
#
#   icx, icl: MEM_LOAD_MISC_RETIRED:UC       c4/04  d4/04  branches, not uncacheable loads
#   spr: TOPDOWN:BAD_SPEC_SLOTS              00/04  a4/04  Linux's code of all slots, as TOPDOWN:SLOTS
#   spr, icx: TOPDOWN:BACKEND_BOUND_SLOTS    00/02  a4/02  event 0: no event of a general counter
#   spr: UOPS_RETIRED:MS                     c2/08  c2/04  8 is the value of the extra register
#   spr: INT_MISC:UNKNOWN_BRANCH_CYCLES      ad/07  ad/40  7 is the value of the extra register
#   spr: MEM_TRANS_RETIRED:STORE_SAMPLE      cd/03  cd/02
#   ivb: MOVE_ELIMINATION:INT_ELIMINATED     58/04  58/01  exchanged with the next; hsw has Intel's
#   ivb: MOVE_ELIMINATION:INT_NOT_ELIMINATED 58/01  58/04
#   nhm: MACRO_INSTS:FUSIONS_DECODED         d0/01  a6/01  all decoded instructions, as MACRO_INSTS:DECODED
#   glm: CPU_CLK_UNHALTED (default CORE_P)   00/00  3c/00  event 0, although UNHALTED_CORE_CYCLES is 3c/00
#
# The script needs python3 and Debian 12's archive; no Intel CPU is needed.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
# libpfm4 has the Intel tables in its x86 build only.
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

apt-get -qq download libpfm4=4.13.0-1 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x libpfm4_*.deb root

cat >encode.py <<'END'
import ctypes, sys


class Arg(ctypes.Structure):  # pfm_pmu_encode_arg_t
    _fields_ = [('codes', ctypes.POINTER(ctypes.c_uint64)), ('fstr', ctypes.c_void_p),
                ('size', ctypes.c_size_t), ('count', ctypes.c_int), ('idx', ctypes.c_int)]


pfm = ctypes.CDLL(sys.argv[1])
pfm.pfm_strerror.restype = ctypes.c_char_p
PFM_OS_NONE, PFM_PLM3 = 0, 8
assert pfm.pfm_initialize() == 0
for line in sys.stdin:
    name = line.split()[0]
    arg = Arg(size=ctypes.sizeof(Arg))
    error = pfm.pfm_get_os_event_encoding(name.encode(), PFM_PLM3, PFM_OS_NONE, ctypes.byref(arg))
    if error:
        print(name, pfm.pfm_strerror(error).decode())
    else:
        print('%s %02x/%02x' % (name, arg.codes[0] & 0xff, arg.codes[0] >> 8 & 0xff))
END
cat >expected <<'END'
icx::MEM_LOAD_MISC_RETIRED:UC c4/04
icl::MEM_LOAD_MISC_RETIRED:UC c4/04
spr::MEM_LOAD_MISC_RETIRED:UC d4/04
icx::BR_INST_RETIRED:NEAR_CALL c4/02
spr::TOPDOWN:BAD_SPEC_SLOTS 00/04
spr::TOPDOWN:SLOTS 00/04
spr::TOPDOWN:BACKEND_BOUND_SLOTS 00/02
icx::TOPDOWN:BACKEND_BOUND_SLOTS 00/02
spr::UOPS_RETIRED:MS c2/08
spr::INT_MISC:UNKNOWN_BRANCH_CYCLES ad/07
spr::MEM_TRANS_RETIRED:STORE_SAMPLE cd/03
ivb::MOVE_ELIMINATION:INT_ELIMINATED 58/04
ivb::MOVE_ELIMINATION:INT_NOT_ELIMINATED 58/01
hsw::MOVE_ELIMINATION:INT_ELIMINATED 58/01
hsw::MOVE_ELIMINATION:INT_NOT_ELIMINATED 58/04
nhm::MACRO_INSTS:FUSIONS_DECODED d0/01
nhm::MACRO_INSTS:DECODED d0/01
glm::CPU_CLK_UNHALTED 00/00
glm::UNHALTED_CORE_CYCLES 3c/00
END
# The variable permits events of PMUs that the machine lacks.
LIBPFM_ENCODE_INACTIVE=1 python3 encode.py root/usr/lib/x86_64-linux-gnu/libpfm.so.4 <expected >seen ||
	{ echo 'SKIP: the library does not load'; exit 77; }
echo '# libpfm4 4.13.0'
cat seen
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
