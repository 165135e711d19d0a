#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Three npm packages that read the output of perf script show other functions, processes and times than it has. stackvis
# 0.5.0 and flamegraph 1.3.0 draw flame graphs, and cpuprofilify 1.0.0 writes profiles for Chrome's developer tools. The
# only warning is about names of code that a virtual machine wrote, which do not exist here:
#
# - perf script prints an address in hot() as hot+0x10. In all three packages each address is a function of its own: the
#   hottest function falls apart into small ones.
# - stackvis cuts a C++ name at its first "<" or "(". All methods of all vectors are std::vector: 2 samples of
#   push_back() and 3 of the destructor are 5 of std::vector.
# - flamegraph and cpuprofilify give all samples to the process of the first one. The two samples of "other" are samples
#   of "prog".
# - flamegraph and cpuprofilify drop stacks of one function, here 4 of 21 samples, and flamegraph's percentages are
#   those of the rest. cpuprofilify's help says that --shortStack keeps these stacks, but it drops them then, too.
# - cpuprofilify cuts the times of the first and the last sample to seconds. A profile of 0.9 s begins and ends at 1000.
#
# Cause: the packages take all text between address and file for the name. converter.js of cpuprofilify, which
# flamegraph includes, reads the process of the first sample only, and an option shortStacks. _adjustTime() of
# converter-perf.js cuts four digits of the time, and parseInt() cuts the others.
#
# The script writes the output of perf script for 21 samples. It needs node 18 or newer, and npm.
# Status: 0 if the packages behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in node npm; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 18 ] || { echo "SKIP: node $major is older than 18"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

echo '{ "private": true }' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts stackvis@0.5.0 flamegraph@1.3.0 cpuprofilify@1.0.0 \
	>npm.log 2>&1 || { echo 'SKIP: npm cannot fetch the packages'; exit 77; }
PATH="$work/node_modules/.bin:$PATH"

cat >make.cjs <<'END'
const sample = (comm, pid, second, ...frames) =>
  `${comm} ${pid} ${second.toFixed(6)}:  100000000 cpu-clock: \n` +
  frames.map(frame => `\t          401000 ${frame} (/usr/bin/${comm})\n`).join('') + '\n'
const vector = 'std::vector<int, std::allocator<int> >::'
const lines = []
const add = (count, comm, pid, begin, step, ...frames) => {
  for (let i = 0; i < count; i++) lines.push(sample(comm, pid, begin + i * step, ...frames))
}
add(5, 'prog', 5000007, 1000.05, 0.05, 'hot+0x10', 'main+0x20')
add(5, 'prog', 5000007, 1000.3, 0.05, 'hot+0x11', 'main+0x20')
add(2, 'prog', 5000007, 1000.55, 0.05, `${vector}push_back(int const&)+0x8`, 'main+0x20')
add(3, 'prog', 5000007, 1000.65, 0.05, `${vector}~vector()+0x8`, 'main+0x20')
add(4, 'prog', 5000007, 1000.8, 0.01, '_start+0x5')
add(2, 'other', 5000008, 1000.9, 0.05, 'idle+0x10', 'main+0x20')
process.stdout.write(lines.join(''))
END
node make.cjs >perf.txt
cat >show.cjs <<'END'
const { startTime, endTime, samples, head } = JSON.parse(require('fs').readFileSync('profile.json', 'utf8'))
const command = process.argv.slice(2).join(' ')
console.log(`${command}: ${head.functionName}, ${samples.length} samples, ${startTime} to ${endTime} s`)
END

export LC_ALL=C
{
	stackvis perf collapsed <perf.txt 2>>log | sort | sed 's/^/stackvis: /'
	flamegraph <perf.txt 2>>log | sed -n 's/.*<title>\([^<]*\))<.*/flamegraph: \1/p' |
		sed 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'
	for option in '' --shortStack; do
		# shellcheck disable=SC2086 # no option or one
		cpuprofilify $option <perf.txt 2>>log >profile.json
		node show.cjs cpuprofilify $option
	done
	grep '^WARN' log | sort -u
} >seen
echo '# stackvis 0.5.0, flamegraph 1.3.0, cpuprofilify 1.0.0'
cat seen
cat >expected <<'END'
stackvis: other`main+0x20,other`idle+0x10 2
stackvis: prog`_start+0x5 4
stackvis: prog`main+0x20,prog`hot+0x10 5
stackvis: prog`main+0x20,prog`hot+0x11 5
stackvis: prog`main+0x20,prog`std::vector 5
flamegraph: hot+0x10 (5 samples), 29.4%
flamegraph: hot+0x11 (5 samples), 29.4%
flamegraph: idle+0x10 (2 samples), 11.8%
flamegraph: std::vector<int, std::allocator<int> >::push_back(int const&)+0x8 (2 samples), 11.8%
flamegraph: std::vector<int, std::allocator<int> >::~vector()+0x8 (3 samples), 17.6%
flamegraph: main+0x20 (17 samples), 100%
flamegraph: prog (17 samples), 100%
cpuprofilify: prog, 17 samples, 1000 to 1000 s
cpuprofilify --shortStack: prog, 17 samples, 1000 to 1000 s
WARN cpup Could not find "/tmp/perf-5000007.map". Did you run your process with --perf-basic-prof flag?
END
diff expected seen >differences || { cat differences; echo 'CHANGED: the packages do not behave as described'; exit 1; }
echo 'as described'
