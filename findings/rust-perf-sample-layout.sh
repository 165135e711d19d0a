#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The Rust crates linux-perf-data 0.6.0 and linux-perf-event-reader 0.8.0 (Debian 12: 0.6.0-1+b1 and
# 0.8.0-1+b1) parse two sample fields with a wrong layout. All fields after such a field are lost or
# wrong; perf parses the same file correctly:
#
# - PERF_SAMPLE_READ: the crates exchange the layouts with and without PERF_FORMAT_GROUP. Samples of
#   `perf record -e '{a,b}:S' -g` fail with "unexpected end of file". Samples of a single event with
#   PERF_SAMPLE_READ fail likewise.
# - PERF_SAMPLE_REGS_INTR: the crates take the number of registers from sample_regs_user, not from
#   sample_regs_intr. With `perf record -I --phys-data` and no user registers there is no error. But
#   the physical address of each sample is the value of register AX.
#
# The script writes three perf.data files of one sample each, prints them with perf if it is
# installed, and parses them with the crates. It needs cargo, python3 and Debian 12's archive.
# Status: 0 if the crates behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in cargo python3 apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
# rustup's cargo needs a toolchain in $HOME/.rustup.
cargo --version >/dev/null 2>&1 || { echo 'SKIP: cargo does not run; install a toolchain'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
crates='bitflags byteorder linear-map libc memchr proc-macro2 quote syn thiserror thiserror-impl unicode-ident'
crates="$crates compiler-builtins rustc-std-workspace-core"
# shellcheck disable=SC2046,SC2086 # a list of names
(cd debs && apt-get -qq download librust-linux-perf-data-dev=0.6.0-1+b1 \
	librust-linux-perf-event-reader-dev=0.8.0-1+b1 \
	$(printf 'librust-%s-dev ' $crates)) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

# Mode "group": a sample of two events in a group, at 0x401000, called from 0x402000. Mode "single": the
# same of one event. Mode "regs": a sample with the registers AX, BX, CX = 0xa, 0xb, 0xc and the physical
# address 0x12345000.
cat >make.py <<'END'
import struct, sys
mode, out = sys.argv[1:]
IP, TID, TIME, READ, CALLCHAIN, PERIOD = 1, 2, 4, 1 << 4, 1 << 5, 1 << 8
IDENTIFIER, REGS_INTR, PHYS_ADDR = 1 << 16, 1 << 18, 1 << 19
FORMAT_ID, FORMAT_GROUP = 1 << 2, 1 << 3
CPU_CLOCK, CONTEXT_SWITCHES, CONTEXT_USER = 0, 3, 2**64 - 512
events = [(CPU_CLOCK, 11)] + [(CONTEXT_SWITCHES, 12)] * (mode == 'group')
form, read, regs = IDENTIFIER | IP | TID | TIME | PERIOD, 0, 0
if mode == 'regs':
    form, regs = form | REGS_INTR | PHYS_ADDR, 7
    rest = struct.pack('<5Q', 2, 0xa, 0xb, 0xc, 0x12345000)
else:
    form, read = form | READ | CALLCHAIN, FORMAT_ID | FORMAT_GROUP * (mode == 'group')
    rest = struct.pack('<5Q', 2, 1000, 11, 3, 12) if mode == 'group' else struct.pack('<2Q', 1000, 11)
    rest += struct.pack('<4Q', 3, CONTEXT_USER, 0x401000, 0x402000)
sample = struct.pack('<2Q2I2Q', 11, 0x401000, 7, 7, 100, 1000) + rest
sample = struct.pack('<I2H', 9, 2, 8 + len(sample)) + sample
attrs, ids = b'', b''
for config, ident in events:
    attrs += struct.pack('<2I5Q', 1, 112, config, 1000, form, read, 1 << 18)
    attrs += struct.pack('<2I4QIiQI2H', 0, 0, 0, 0, 0, 0, 0, 0, regs, 0, 0, 0)
    attrs += struct.pack('<2Q', 104 + 128 * len(events) + len(ids), 8)
    ids += struct.pack('<Q', ident)
head = b'PERFILE2' + struct.pack('<8Q', 104, 128, 104, len(attrs), 104 + len(attrs) + len(ids), len(sample), 0, 0)
open(out, 'wb').write(head + bytes(32) + attrs + ids + sample)
END
for mode in group single regs; do
	python3 make.py $mode $mode.data
done
if command -v perf >/dev/null; then
	echo "# $(perf --version)"
	perf script -i group.data -F event,period,ip 2>/dev/null
	perf script -i single.data -F event,period,ip 2>/dev/null
	perf script -i regs.data -F ip,iregs,phys_addr 2>/dev/null
fi

mkdir -p reader/src reader/.cargo
cat >reader/Cargo.toml <<'END'
[package]
name = "reader"
version = "0.1.0"
edition = "2021"
[dependencies]
linux-perf-data = "=0.6.0"
END
cat >reader/.cargo/config.toml <<END
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "$work/root/usr/share/cargo/registry"
END
cat >reader/src/main.rs <<'END'
use linux_perf_data::{linux_perf_event_reader::EventRecord, PerfFileReader, PerfFileRecord};

fn main() {
    for name in std::env::args().skip(1) {
        let file = std::fs::File::open(&name).unwrap();
        let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(file).unwrap();
        while let Some(record) = record_iter.next_record(&mut perf_file).unwrap() {
            if let PerfFileRecord::EventRecord { record, .. } = record {
                match record.parse() {
                    Ok(EventRecord::Sample(s)) => println!(
                        "{}: ip {:x?}, {} callchain, phys_addr {:x?}", name, s.ip,
                        s.callchain.map_or("no", |_| "a"), s.phys_addr),
                    Ok(_) => println!("{}: no sample", name),
                    Err(e) => println!("{}: {}", name, e),
                }
            }
        }
    }
}
END
(cd reader && cargo build --offline --quiet) 2>cargo.log ||
	{ tail -n 5 cargo.log; echo "SKIP: the crates do not build with $(cargo --version)"; exit 77; }
reader/target/debug/reader group.data single.data regs.data >seen
echo '# linux-perf-data 0.6.0, linux-perf-event-reader 0.8.0'
cat seen
cat >expected <<'END'
group.data: unexpected end of file
single.data: unexpected end of file
regs.data: ip Some(401000), no callchain, phys_addr Some(a)
END
diff expected seen >/dev/null || { echo 'CHANGED: the crates do not behave as described'; exit 1; }
echo 'as described'
