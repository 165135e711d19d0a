#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Two npm packages show other call chains and values than a pprof profile contains. In a pprof profile
# (profile.proto), a location has a line for each inlined function, innermost first; it has no line if it
# has no symbol. Profiles of perf data have both. The packages raise no error:
#
# - react-pprof 1.5.1 takes the first line of each location: inlining functions vanish from all chains. It
#   also drops locations without a symbol: their callers get the time. It reads the unit and ignores it:
#   5000 microseconds are shown as 5.00 us.
# - pprof-to-md 0.2.0 reverses the order of locations, but not the order of their lines. An inlined
#   function becomes the caller of its own caller, which gets the time of the leaf. The list of
#   hotspots gives the time to both functions, so that the sum of self times is more than the total. Of the
#   sample types "samples" and "cpu" it takes whichever is first: counts of samples, not CPU time.
#
# The profile has two samples: 5000 us in inner(), inlined into outer(), called by main(); and 3000 us at an
# address without a symbol, called by main(). It needs node 18 or newer, and npm.
# Status: 0 if the packages behave as described, 1 if not, 77 if they cannot be tested.
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

mkdir node_modules
for package in react-pprof@1.5.1 pprof-to-md@0.2.0 pprof-format@2.2.1; do
	npm pack --silent "$package" >npm.log 2>&1 || { echo "SKIP: npm cannot fetch $package"; exit 77; }
	mkdir "node_modules/${package%@*}"
	tar xzf "$(tail -n 1 npm.log)" -C "node_modules/${package%@*}" --strip-components=1
done

cat >main.mjs <<'END'
import { Profile } from 'pprof-format'
import { FlameDataProcessor } from './node_modules/react-pprof/dist/renderer/FlameDataProcessor.js'
import { formatValue } from './node_modules/react-pprof/dist/renderer/formatters.js'
import { analyzeProfile, getPrimarySampleTypeIndex } from './node_modules/pprof-to-md/dist/analyzer.js'
import { parseProfile } from './node_modules/pprof-to-md/dist/parser.js'

// Protocol buffers: numbers as varints; strings, messages (arrays of bytes) and packed numbers with lengths.
const varint = n => n < 128 ? [n] : [n % 128 + 128, ...varint(Math.floor(n / 128))]
const number = (field, n) => [...varint(field * 8), ...varint(n)]
const bytes = (field, b) => [...varint(field * 8 + 2), ...varint(b.length), ...b]
const packed = (field, ...n) => bytes(field, n.flatMap(varint))

const strings = ['', 'samples', 'count', 'cpu', 'microseconds', 'inner', 'outer', 'main', 'main.c']
const valueType = (type, unit) => [...number(1, strings.indexOf(type)), ...number(2, strings.indexOf(unit))]
const sample = (locations, values) => [...packed(1, ...locations), ...packed(2, ...values)]
const line = (func, n) => [...number(1, func), ...number(2, n)]
const location = (id, address, ...lines) =>
  [...number(1, id), ...number(3, address), ...lines.flatMap(l => bytes(4, l))]
const func = (id, name) => [...number(1, id), ...number(2, strings.indexOf(name)), ...number(4, 8)]
const data = Buffer.from([
  ...bytes(1, valueType('samples', 'count')), ...bytes(1, valueType('cpu', 'microseconds')),
  ...bytes(2, sample([1, 2], [1, 5000])), ...bytes(2, sample([3, 2], [1, 3000])),
  ...bytes(4, location(1, 0x401000, line(1, 10), line(2, 20))),
  ...bytes(4, location(2, 0x402000, line(3, 30))), ...bytes(4, location(3, 0x7f0000)),
  ...bytes(5, func(1, 'inner')), ...bytes(5, func(2, 'outer')), ...bytes(5, func(3, 'main')),
  ...strings.flatMap(s => bytes(6, Buffer.from(s)))
])

const processor = new FlameDataProcessor()
const graph = processor.processProfile(Profile.decode(data))
const metadata = processor.getProfileMetadata()
const show = (node, chain) => {
  const time = value => formatValue(value, metadata).replace('\u03bc', 'u')
  console.log('react-pprof:', [...chain, node.name].join(' > '), time(node.value), 'self', time(node.selfValue))
  node.children.forEach(child => show(child, [...chain, node.name]))
}
graph.children.forEach(child => show(child, []))

const profile = parseProfile(data)
const primary = getPrimarySampleTypeIndex(profile, 'cpu')
console.log('pprof-to-md: sample type', profile.sampleTypes[primary].type)
const analysis = analyzeProfile(profile, { sampleTypeIndex: 1 })
const walk = (node, chain) => {
  console.log('pprof-to-md:', [...chain, node.name].join(' > '), Number(node.cumulativeValue), 'self',
    Number(node.selfValue))
  node.children.forEach(child => walk(child, [...chain, node.name]))
}
analysis.callTree.children.forEach(child => walk(child, []))
for (const spot of analysis.hotspots) {
  console.log('pprof-to-md: hotspot', spot.name, Number(spot.selfValue), 'of', Number(analysis.totalValue))
}
END
node main.mjs >seen 2>node.log || { tail -n 5 node.log; echo 'SKIP: the packages do not load'; exit 77; }
echo '# react-pprof 1.5.1, pprof-to-md 0.2.0, pprof-format 2.2.1'
cat seen
cat >expected <<'END'
react-pprof: main 8.00us self 3.00us
react-pprof: main > inner 5.00us self 5.00us
pprof-to-md: sample type samples
pprof-to-md: main 8000 self 3000
pprof-to-md: main > inner 5000 self 0
pprof-to-md: main > inner > outer 5000 self 5000
pprof-to-md: hotspot inner 5000 of 8000
pprof-to-md: hotspot outer 5000 of 8000
END
diff expected seen >/dev/null || { echo 'CHANGED: the packages do not behave as described'; exit 1; }
echo 'as described'
