#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The Go package github.com/hodgesds/perf-utils 0.5.1 (Debian 12: 0.5.1-2; Prometheus' node exporter reads
# its counters with it) reports other counts than its caller asks for, without an error:
#
# - NewGroupProfiler() overwrites the flags of each perf_event_attr. An attr with exclude_kernel, as
#   PageFaultsEventAttr() and CPUInstructionsEventAttr() return it, counts the kernel too. Outside a group
#   the same event excludes the kernel.
# - RunBenchmarks() keeps events by a name that many events share. Branch instructions and branch misses
#   are both "hw_unknown", any two raw events are both "raw". Only the last event of a name is reported.
# - The results called "hit" (L1DataReadHit, LLReadHit, DataTLBReadHit, ...) are
#   PERF_COUNT_HW_CACHE_RESULT_ACCESS: they count hits and misses. hit / (hit + miss) is no hit rate.
#   For example, 100 accesses with 50 misses have a rate of 0.5, and the formula says 0.67.
#
# The script has read() fill 1000 new pages, so that all page faults occur in the kernel. It needs Debian
# 12's archive and a kernel that lets the user count the kernel's software events.
# Status: 0 if the package behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the Go compiler below is for amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 \
	golang-github-hodgesds-perf-utils-dev=0.5.1-2 golang-golang-x-sys-dev=0.3.0-1 \
	golang-go.uber-multierr-dev=1.6.0-1 golang-go.uber-atomic-dev=1.10.0-2) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >main.go <<'END'
package main

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	perf "github.com/hodgesds/perf-utils"
	"golang.org/x/sys/unix"
)

const pages = 1000

// Fill new pages by read(): the kernel takes the page faults.
func readPages() error {
	zero, err := os.Open("/dev/zero")
	if err != nil {
		return err
	}
	defer zero.Close()
	size := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, pages*size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return err
	}
	defer syscall.Munmap(mem)
	unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	for i := 0; i < pages; i++ {
		if _, err := zero.Read(mem[i*size : (i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

func skip(err error) {
	if err != nil {
		fmt.Println("SKIP:", err)
		os.Exit(77)
	}
}

func many(count uint64) string {
	if count >= pages {
		return "1000 or more"
	}
	return "fewer than 1000"
}

func attr(kind uint32, config uint64) unix.PerfEventAttr {
	return unix.PerfEventAttr{Type: kind, Config: config, Size: perf.EventAttrSize,
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_RUNNING | unix.PERF_FORMAT_TOTAL_TIME_ENABLED}
}

func main() {
	single, err := perf.PageFaults(readPages)
	skip(err)
	user := perf.PageFaultsEventAttr()
	group, err := perf.NewGroupProfiler(0, -1, 0, user)
	skip(err)
	skip(group.Start())
	skip(readPages())
	skip(group.Stop())
	var grouped perf.GroupProfileValue
	skip(group.Profile(&grouped))
	fmt.Fprintln(os.Stderr, "# counts:", single.Value, grouped.Values[0])
	fmt.Println("exclude_kernel:", user.Bits&unix.PerfBitExcludeKernel != 0)
	fmt.Println("page faults outside a group:", many(single.Value))
	fmt.Println("page faults in a group:", many(grouped.Values[0]))

	result := testing.Benchmark(func(b *testing.B) {
		perf.RunBenchmarks(b, func(b *testing.B) {}, perf.BenchLock,
			attr(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_DUMMY),
			attr(unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_BPF_OUTPUT))
	})
	fmt.Println("results of two benchmark events:", result.Extra)
	branches := attr(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
	misses := attr(unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_BRANCH_MISSES)
	raw1, raw2 := attr(unix.PERF_TYPE_RAW, 0xc0), attr(unix.PERF_TYPE_RAW, 0x3c)
	fmt.Println("names:", perf.EventAttrString(&branches), perf.EventAttrString(&misses),
		perf.EventAttrString(&raw1), perf.EventAttrString(&raw2))
	for _, hit := range []int{perf.L1DataReadHit, perf.LLReadHit, perf.DataTLBReadHit} {
		fmt.Println("hit is access:", hit>>16 == unix.PERF_COUNT_HW_CACHE_RESULT_ACCESS)
	}
}
END
export GOROOT="$work/root/usr/lib/go-1.19" GOPATH="$work/root/usr/share/gocode" GOCACHE="$work/cache"
export GO111MODULE=off GOTOOLCHAIN=local
"$GOROOT/bin/go" build -p 1 -o main main.go 2>go.log ||
	{ tail -n 5 go.log; echo 'SKIP: the package does not build'; exit 77; }
./main >seen || { tail -n 1 seen; echo 'SKIP: the events above cannot be counted here'; exit 77; }
echo '# perf-utils 0.5.1'
cat seen
cat >expected <<'END'
exclude_kernel: true
page faults outside a group: fewer than 1000
page faults in a group: 1000 or more
results of two benchmark events: map[sw_unknown/op:0]
names: hw_unknown hw_unknown raw raw
hit is access: true
hit is access: true
hit is access: true
END
diff expected seen >/dev/null || { echo 'CHANGED: the package does not behave as described'; exit 1; }
echo 'as described'
