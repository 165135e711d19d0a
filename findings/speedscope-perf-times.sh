#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# speedscope 1.25.0 (npm), a viewer of profiles, shows times that no task ran when it opens the output of perf script.
# There is no message:
#
# - The time between two samples of a thread counts as run time, half of it for each sample's stack. A thread with four
#   samples of 1 ms that sleeps for 9 s between two of them has 9.00s. A thread that runs for all of 100 ms has 99.00ms,
#   and looks a hundredth as busy.
# - The samples' periods have no effect. A thread with one sample has the total 1, without a unit.
# - The event of the first sample is the only one. Samples of other events vanish, and with them the functions load()
#   and touch() and the thread "faulty".
#
# perf samples clocks and counters of hardware only while a task runs, so each sleeping thread has such gaps.
#
# Cause: importFromLinuxPerf() of src/import/linux-tools-perf.ts reads the times of samples as times of a timeline, does
# not read periods, and skips samples with another event than the first. appendSampleWithTimestamp() of
# src/lib/profile.ts divides the time.
#
# The script has speedscope's own bundle import a file as `perf record -c 1000000 -e cpu-clock,page-faults -g' and
# `perf script -F +pid' leave it, in node with stubs for the browser's objects. It needs node 18 or newer, and npm.
# Status: 0 if speedscope behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in node npm tar; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 18 ] || { echo "SKIP: node $major is older than 18"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"

npm pack --silent speedscope@1.25.0 >npm.log 2>&1 || { echo 'SKIP: npm cannot fetch speedscope@1.25.0'; exit 77; }
tar xzf "$(tail -n 1 npm.log)"

cat >main.cjs <<'END'
const fs = require('node:fs')
const vm = require('node:vm')

// perf script's text: thread, time in ms, period in ns, event, function called by main()
const samples = []
const add = (comm, tid, ms, period, event, func) => samples.push({ ms, text:
  `${comm} ${tid}/${tid}  ${(1000 + ms / 1000).toFixed(6)}:    ${period} ${event}: \n` +
  `\t          401000 ${func}+0x0 (/usr/bin/${comm})\n\t          402000 main+0x0 (/usr/bin/${comm})\n\n` })
for (const [ms, func] of [[0, 'parse'], [1, 'parse'], [2, 'reply'], [9000, 'parse']]) {
  add('server', 7, ms, 1000000, 'cpu-clock', func)
}
for (let ms = 0; ms < 100; ms++) add('worker', 8, ms + 0.5, 1000000, 'cpu-clock', 'compute')
add('short', 9, 50.2, 1000000, 'cpu-clock', 'once')
add('server', 7, 5.7, 1, 'page-faults', 'load')
add('faulty', 10, 60.7, 1, 'page-faults', 'touch')
samples.sort((a, b) => a.ms - b.ms)
const text = samples.map(sample => sample.text).join('')

const bundle = fs.readdirSync('package/dist/release').find(name => /^speedscope-\w+\.js$/.test(name))
const source = fs.readFileSync(`package/dist/release/${bundle}`, 'utf8')
// The bundle's function that imports a file, and the place where the bundle would draw its page
const load = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)/.exec(source)[3]
const end = source.lastIndexOf('console.log(`speedscope v')
const any = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => '' : any, set: () => true, apply: () => any, construct: () => any
})
const messages = []
const say = (...words) => messages.push(words.join(' '))
const context = vm.createContext({
  self: any, window: any, document: any, localStorage: any, navigator: any, location: any, requestAnimationFrame: any,
  alert: say, console: { log() {}, assert() {}, warn: say, error: say }, TextDecoder, TextEncoder, performance,
  setTimeout, WebAssembly
})
vm.runInContext(`${source.slice(0, end)}globalThis.load=${load}})();`, context)
context.load('perf.txt', Buffer.from(text).toString('base64')).then(group => {
  for (const profile of group.profiles) {
    console.log(`${profile.getName()}: ${profile.formatValue(profile.getTotalWeight())}`)
    const frames = []
    profile.forEachFrame(frame => frames.push(`  ${frame.name}: ${profile.formatValue(frame.getSelfWeight())}`))
    frames.sort().forEach(line => console.log(line))
  }
  console.log('warnings:', messages.length)
})
END
node main.cjs >seen 2>node.log ||
	{ grep '^[A-Za-z]*Error' node.log | cut -c 1-100; echo 'SKIP: the bundle does not load'; exit 77; }
echo '# speedscope 1.25.0'
cat seen
cat >expected <<'END'
server pid: 7 tid: 7: 9.00s
  main: 0.00ns
  parse: 4.50s
  reply: 4.50s
worker pid: 8 tid: 8: 99.00ms
  compute: 99.00ms
  main: 0.00ns
short pid: 9 tid: 9: 1
  main: 0
  once: 1
warnings: 0
END
diff expected seen >/dev/null || { echo 'CHANGED: speedscope does not behave as described'; exit 1; }
echo 'as described'
