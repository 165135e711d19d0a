#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# PAPI 7.0.0 (Debian 12: 7.0.0-2) has preset events that do not count what their description says, or count
# another thing on another CPU. All of them are available and count without an error:
#
# - PAPI_L2_DCW and PAPI_L2_TCW, "cache writes", of Skylake and Cascade Lake servers are the sum of two
#   native events that are aliases in libpfm4: 24/c2. Write hits count twice, misses do not count.
# - PAPI_VEC_DP and PAPI_VEC_SP, "vector/SIMD instructions", are operations on Sandy Bridge: 2 or 4 for an
#   instruction. On Skylake and Ice Lake they are instructions, but include scalar ones. A program
#   without vector code has as many "vector instructions" as scalar floating-point instructions.
# - PAPI_FP_OPS of Sandy Bridge and Ivy Bridge has no packed operations: vectorized code has none.
# - PAPI_BR_MSP, "conditional branch instructions mispredicted", of Ivy Bridge counts all branches.
#   PAPI_BR_PRC subtracts it from the conditional ones: mispredicted indirect calls and returns make it
#   too small. PAPI_BR_TKN, "conditional branch instructions taken", of Zen 2 counts all taken branches.
#
# The script prints definitions with papi_avail, for PMUs that libpfm4 is told to find. It needs python3,
# Debian 12's archive and perf_event_open(); none of the CPUs is needed.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download papi-tools=7.0.0-2 libpapi7.0=7.0.0-2 libpfm4=4.13.0-1) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu"

# Print the presets of argv[2:] in papi_avail's detailed list: kind or formula, and native events.
cat >presets.py <<'END'
import re, sys
name, presets = None, {}
for line in sys.stdin:
    line = line.strip()
    if re.match(r'PAPI_\w+\s+0x', line):
        name = line.split()[0]
        presets[name] = []
    elif name and re.match(r'\|(NOT_DERIVED|DERIVED_ADD|DERIVED_SUB|N\d.*)\|$', line):
        presets[name].append(line.strip('|'))
    elif name and line.startswith('Native Code['):
        presets[name].append(line.split('|')[1])
for name in sys.argv[2:]:
    print(sys.argv[1], name, *presets.get(name, ['unavailable']))
END
presets() {
	LIBPFM_FORCE_PMU="$1" root/usr/bin/papi_avail -a -d >"$1.list" 2>&1 || true
	grep -q '^PAPI_TOT_INS' "$1.list" ||
		{ echo "SKIP: PAPI has no core events here; does perf_event_open() work?"; exit 77; }
	python3 presets.py "$@" <"$1.list"
}
(
	presets skx PAPI_L2_DCW PAPI_L2_TCW PAPI_VEC_DP
	presets clx PAPI_L2_DCW
	presets icx PAPI_VEC_DP
	presets snb PAPI_VEC_DP PAPI_FP_OPS
	presets ivb PAPI_FP_OPS PAPI_BR_MSP PAPI_BR_PRC
	presets amd64_fam17h_zen2 PAPI_BR_TKN
) >seen || { tail -n 1 seen; exit 77; }

cat >encode.py <<'END'
import ctypes, sys


class Arg(ctypes.Structure):  # pfm_pmu_encode_arg_t
    _fields_ = [('codes', ctypes.POINTER(ctypes.c_uint64)), ('fstr', ctypes.c_void_p),
                ('size', ctypes.c_size_t), ('count', ctypes.c_int), ('idx', ctypes.c_int)]


pfm = ctypes.CDLL('libpfm.so.4')
PFM_OS_NONE, PFM_PLM3 = 0, 8
assert pfm.pfm_initialize() == 0
for name in sys.argv[1:]:
    arg = Arg(size=ctypes.sizeof(Arg))
    assert pfm.pfm_get_os_event_encoding(name.encode(), PFM_PLM3, PFM_OS_NONE, ctypes.byref(arg)) == 0
    print('%s %02x/%02x' % (name, arg.codes[0] & 0xff, arg.codes[0] >> 8 & 0xff))
END
LIBPFM_ENCODE_INACTIVE=1 python3 encode.py skx::L2_RQSTS:DEMAND_RFO_HIT skx::L2_RQSTS:RFO_HIT >>seen
echo '# PAPI 7.0.0, libpfm4 4.13.0'
cat seen
fp='FP_ARITH:SCALAR_DOUBLE FP_ARITH:128B_PACKED_DOUBLE FP_ARITH:256B_PACKED_DOUBLE FP_ARITH:512B_PACKED_DOUBLE'
scalar='FP_COMP_OPS_EXE:SSE_SCALAR_DOUBLE FP_COMP_OPS_EXE:SSE_FP_SCALAR_SINGLE FP_COMP_OPS_EXE:X87'
cat >expected <<END
skx PAPI_L2_DCW DERIVED_ADD L2_RQSTS:DEMAND_RFO_HIT L2_RQSTS:RFO_HIT
skx PAPI_L2_TCW DERIVED_ADD L2_RQSTS:DEMAND_RFO_HIT L2_RQSTS:RFO_HIT
skx PAPI_VEC_DP N0|N1|N2|N3|+|+|+ $fp
clx PAPI_L2_DCW DERIVED_ADD L2_RQSTS:DEMAND_RFO_HIT L2_RQSTS:RFO_HIT
icx PAPI_VEC_DP N0|N1|N2|N3|+|+|+ $fp
snb PAPI_VEC_DP N0|2|*|N1|4|*|+ FP_COMP_OPS_EXE:SSE_FP_PACKED_DOUBLE SIMD_FP_256:PACKED_DOUBLE
snb PAPI_FP_OPS DERIVED_ADD $scalar
ivb PAPI_FP_OPS DERIVED_ADD $scalar
ivb PAPI_BR_MSP NOT_DERIVED BR_MISP_RETIRED:ALL_BRANCHES
ivb PAPI_BR_PRC DERIVED_SUB BR_INST_RETIRED:COND BR_MISP_RETIRED:ALL_BRANCHES
amd64_fam17h_zen2 PAPI_BR_TKN NOT_DERIVED RETIRED_TAKEN_BRANCH_INSTRUCTIONS
skx::L2_RQSTS:DEMAND_RFO_HIT 24/c2
skx::L2_RQSTS:RFO_HIT 24/c2
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
