#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# likwid 5.2.2 (Debian 12: 5.2.2+dfsg1-1) computes some metrics of its performance groups by another formula
# than the group's own description gives, without a message:
#
# - POWER8, BRANCH: "Branch misprediction ratio" is the number of instructions per branch. With 1000
#   instructions, 100 branches and 5 mispredictions it is 10, not 0.05.
# - POWER8, L3: "L3D load bandwidth" and "L3 bandwidth" add demand loads and subtract them again. Only
#   prefetches remain: 10^6 cache lines loaded in a second are 0 MBytes/s, not 128.
# - Neoverse N1, TLB: two metrics have the name "L1 DTLB refill ratio". The second is that of the L2 TLB.
#   With 10 refills of 1000 L1 accesses, and 5 of 10 in the L2 TLB, the two metrics of that name are 0.01 and 0.5.
# - ThunderX2, FLOPS_SP: a vector instruction is 2 operations, as in FLOPS_DP. A vector has 4 single-precision
#   numbers, and the description says 4.
#
# The script reads the groups with likwid's library and evaluates the formulas with the counts above. It
# needs python3 and Debian 12's archive; none of the CPUs is needed.
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
(cd debs && apt-get -qq download likwid=5.2.2+dfsg1-1 libhwloc15=2.9.0-1 liblua5.3-0=5.3.6-2) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >metrics.py <<'END'
import ctypes, sys
Text, Texts = ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p)


class GroupInfo(ctypes.Structure):
    _fields_ = [('groupname', Text), ('shortinfo', Text), ('nevents', ctypes.c_int), ('events', Texts),
                ('counters', Texts), ('nmetrics', ctypes.c_int), ('metricnames', Texts),
                ('metricformulas', Texts), ('longinfo', Text)]


likwid, groups = ctypes.CDLL('liblikwid.so.5.2'), sys.argv[1].encode()


def show(cpu, group, wanted, counts):
    """Print the metrics whose names begin with @wanted, and their lines in the description."""
    info = GroupInfo()
    assert likwid.perfgroup_readGroup(groups, cpu.encode(), group.encode(), ctypes.byref(info)) == 0
    values = {'time': 1.0}
    for n in range(info.nevents):
        values[info.counters[n].decode()] = counts.get(info.events[n].decode(), 0)
    for n in range(info.nmetrics):
        name, formula = info.metricnames[n].decode().strip(), info.metricformulas[n].decode()
        if name.startswith(wanted):
            print('%s %s: %s %g' % (cpu, group, name, eval(formula, {}, values)))
    for line in info.longinfo.decode().splitlines():
        if line.startswith(wanted) and '=' in line:
            print('%s %s described: %s' % (cpu, group, line.strip()))


show('power8', 'BRANCH', 'Branch misprediction ratio',
     {'PM_BR_PRED_BR_CMPL': 60, 'PM_BR_PRED_CCACHE_CMPL': 30, 'PM_BR_PRED_CR_CMPL': 10,
      'PM_BR_MPRED_CMPL': 5, 'PM_RUN_INST_CMPL': 1000})
show('power8', 'L3', ('L3D load bandwidth', 'L3 bandwidth'), {'PM_DATA_FROM_L3': 1e6, 'PM_L3_LD_PREF': 0})
show('arm8_n1', 'TLB', ('L1 DTLB refill ratio', 'L2 DTLB refill ratio'),
     {'L1D_TLB': 1000, 'L1D_TLB_REFILL': 10, 'L1I_TLB': 1, 'L2D_TLB': 10, 'L2D_TLB_REFILL': 5})
for precision in 'SP', 'DP':
    show('arm8_tx2', 'FLOPS_' + precision, 'NEON', {'ASE_SPEC': 1e6})
END
LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu" python3 metrics.py root/usr/share/likwid/perfgroups \
	>seen 2>python.log || { tail -n 1 python.log; echo 'SKIP: the library does not load'; exit 77; }
echo '# likwid 5.2.2'
cat seen
cat >expected <<'END'
power8 BRANCH: Branch misprediction ratio 10
power8 BRANCH described: Branch misprediction ratio = BR_MISP_RETIRED_ALL_BRANCHES/BR_INST_RETIRED_ALL_BRANCHES
power8 L3: L3D load bandwidth [MBytes/s] 0
power8 L3: L3 bandwidth [MBytes/s] 0
power8 L3 described: L3D load bandwidth [MBytes/s] = 1.0E-06*(PM_DATA_FROM_L3)*128.0/time
power8 L3 described: L3 bandwidth [MBytes/s] = 1.0E-06*(PM_DATA_FROM_L3+PM_L2_CASTOUT_MOD)*128.0/time
arm8_n1 TLB: L1 DTLB refill ratio 0.01
arm8_n1 TLB: L1 DTLB refill ratio 0.5
arm8_n1 TLB described: L1 DTLB refill ratio = L1D_TLB_REFILL / L1D_TLB
arm8_n1 TLB described: L2 DTLB refill ratio = L2D_TLB_REFILL / L2D_TLB
arm8_tx2 FLOPS_SP: NEON SP [MFLOP/s] 2
arm8_tx2 FLOPS_SP described: NEON SP [MFLOP/s] = 1.0E-06*(ASE_SPEC*4)/runtime
arm8_tx2 FLOPS_DP: NEON DP [MFLOP/s] 2
arm8_tx2 FLOPS_DP described: NEON DP [MFLOP/s] = 1.0E-06*(ASE_SPEC*4)/runtime
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
