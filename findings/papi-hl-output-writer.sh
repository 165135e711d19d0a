#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# papi_hl_output_writer of PAPI 7.0.0 (Debian 12: papi-tools 7.0.0-2) derives other times and rates than the
# measurements of PAPI's high-level interface contain, without an error:
#
# - It rounds the real time to 10 ms before it divides by it. 14e6 operations in 14 ms are 1400 MFLOPS/s, not
#   1000. Regions of less than 5 ms have the rate "n/a" in the summary, and 0 in the details.
# - "Real time in s" of a region in a loop is the longest round, and "CPU time in s" is the sum of all rounds.
#   Three rounds of 1 s on one thread have the real time 1 and the CPU time 3.
# - Rates of threads divide by the sum of all threads' real times. Four threads with 1e9 operations each, at
#   the same time in 1 s, are 1000 MFLOPS/s, not 4000. The report's real time is 1, and its CPU time is 4.
#
# The script writes measurements as PAPI_hl_region_end() does. It needs python3 and Debian 12's archive; no
# PMU is needed.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

apt-get -qq download papi-tools=7.0.0-2 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
dpkg -x papi-tools_*.deb root

# Arguments: a folder, the number of threads, each thread's regions, their time in ns and operations.
cat >measure.py <<'END'
import json, os, sys
folder = sys.argv[1]
threads, regions, time, operations = map(int, sys.argv[2:])
event = {'component': 'perf_event', 'type': 'delta'}
region = {'name': 'computation', 'parent_region_id': '-1', 'cycles': str(3 * time), 'real_time_nsec': str(time),
          'perf::TASK-CLOCK': str(time), 'PAPI_DP_OPS': str(operations)}
thread = {'regions': {str(n): region for n in range(regions)}}
os.mkdir(folder)
cpu = {'papi_version': '7.0.0.0', 'cpu_info': 'CPU', 'max_cpu_rate_mhz': '3000', 'min_cpu_rate_mhz': '3000'}
with open(folder + '/rank_1000.json', 'w') as out:
    json.dump({**cpu, 'event_definitions': {'perf::TASK-CLOCK': event, 'PAPI_DP_OPS': event},
               'threads': {str(n): thread for n in range(threads)}}, out)
END
# Print the writer's region in one line. Arguments: a folder and the type of the report.
report() {
	python3 root/usr/bin/papi_hl_output_writer --source "$1" --type "$2" >"$1.json" 2>python.log ||
		{ tail -n 1 python.log; echo 'SKIP: papi_hl_output_writer does not run'; exit 77; }
	echo "$1, $2:" "$(tr -d '\n"' <"$1.json" | tr -s ' ' | sed 's/.*computation[ ,:{]*//; s/[ }]*$//')"
}
python3 measure.py short 1 1 14000000 14000000
python3 measure.py shorter 1 1 4000000 4000000
python3 measure.py loop 1 3 1000000000 1000000000
python3 measure.py threads 4 1 1000000000 1000000000
{
	report short summary
	report shorter summary
	report shorter detail
	report loop summary
	report threads summary
} >seen
echo '# PAPI 7.0.0'
cat seen
rate='Double precision MFLOPS/s'
parallel='Number of ranks: 1, Number of threads per rank: 4'
cat >expected <<END
short, summary: Region count: 1, Real time in s: 0.01, CPU time in s: 0.01, $rate: 1400.0
shorter, summary: Region count: 1, Real time in s: 0.0, CPU time in s: 0.0, $rate: n/a
shorter, detail: Real time in s: 0.0, CPU time in s: 0.0, $rate: 0
loop, summary: Region count: 3, Real time in s: 1.0, CPU time in s: 3.0, $rate: 1000.0
threads, summary: Region count: 4, Real time in s: 1.0, CPU time in s: 4.0, $rate: 1000.0, $parallel
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
