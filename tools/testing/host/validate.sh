#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# pmu-validate's reports of given results, and files that its checks change and restore, without a
# PMU: the suite validate-safe of guests tests the rest.
. "$(dirname "$0")/../host-test.sh"

# If nothing is restored, a child waits forever, and would keep its parents' files open.
clean_up()
{
	local pid

	while read -r pid; do
		[ "$(readlink "/proc/$pid/exe")" != "$work/change" ] || kill -9 "$pid"
	done <"$work/pids"
	rm -rf "$work"
}
: >"$work/pids"
trap clean_up EXIT
tool=$work/pmu-validate

build()
{
	expect_true "it builds" make -s -C tools/validate CROSS_COMPILE= WERROR=1 O="$work" \
		DESTDIR="$work/root" PREFIX=/usr all install &&
		expect_true "the program is installed" test -x "$work/root/usr/sbin/pmu-validate" &&
		expect_true "the page of the program is installed" \
			test -s "$work/root/usr/share/man/man8/pmu-validate.8" &&
		expect_true "the report's script is installed" test -x "$work/root/usr/sbin/pmu-validate-report" &&
		expect_true "the page of the script is installed" \
			test -s "$work/root/usr/share/man/man8/pmu-validate-report.8" &&
		expect_not "dynamic sections of a program that is static" 'NEEDED' \
			"$(readelf -d "$tool" 2>&1)"
}

every_option_is_in_the_page()
{
	local program option

	for program in "$tool" "$report"; do
		for option in $("$program" --help | grep -oE '^  --[a-z]+'); do
			expect_says "the manual page on $option" "\\\\-\\\\-${option#--}" \
				"$(cat "tools/validate/${program##*/}.8")" || return 1
		done
	done
}

every_cause_is_a_check()
{
	local titles title

	titles=$(sed -nE 's/^\t\{ ON_.*"([^"]+)" \},$/\1/p' tools/validate/judge/because.c)
	expect_true "because.c names checks" test -n "$titles" || return 1
	while read -r title; do
		expect_true "a check is called $title" grep -Fqx "$title" <("$tool" --list) || return 1
	done <<<"$titles"
}

# sentences: print what rules quote, as "PAGE<tab>SENTENCE" lines
sentences()
{
	"$tool" --list | grep -P '^\t' | sort -u | awk -v edition="man-pages 6.03: " '
	{
		page = ""
		while (match($0, /[a-z_-]+\([0-9]\), man-pages 6\.03: |"[^"]*"/)) {
			part = substr($0, RSTART, RLENGTH)
			$0 = substr($0, RSTART + RLENGTH)
			if (part !~ /^"/) {
				page = part
				sub(/\(.*/, "", page)
			} else if (page) {
				n = split(substr(part, 2, length(part) - 2), pieces, / *\[\.\.\.\] */)
				for (i = 1; i <= n; i++)
					if (pieces[i])
						print page "\t" pieces[i]
			}
		}
	}'
}

# Every rule quotes a sentence of the page and edition that it names, word by word.
rules_are_quoted()
{
	local page sentence pages

	expect_equal "rules without a quotation" "$("$tool" --list | grep -P '^\t' | grep -v '"' |
		grep -vc '^.drivers/perf/arm_pmu.c, arch/x86/')" 0
	man --path perf_event_open >/dev/null 2>&1 &&
		[[ $(man perf_event_open 2>/dev/null) == *"Linux man-pages 6.03"* ]] ||
		skip "man-pages 6.03 are not installed (manpages-dev and man-db of Debian 12)"
	sentences >"$work/sentences"
	expect_true "there are sentences" test "$(wc -l <"$work/sentences")" -gt 80
	mapfile -t pages < <(cut -f 1 "$work/sentences" | sort -u)
	for page in "${pages[@]}"; do
		MANWIDTH=20000 LC_ALL=C.UTF-8 man "$page" 2>/dev/null | col -b |
			tr -s ' \t\n' ' ' >"$work/page-$page"
	done
	while IFS=$'\t' read -r page sentence; do
		grep -qF -- "$sentence" "$work/page-$page" || echo "$page does not say: $sentence"
	done <"$work/sentences" >"$work/unsaid"
	expect_equal "sentences that are not in their page" "" "$(cat "$work/unsaid")"
}

# The report is valid JSON without a PMU and with one.
json_always()
{
	"$tool" --json --filter "identity" >"$work/any.json"
	expect_true "JSON" python3 -m json.tool "$work/any.json" "$work/tidy" &&
		expect_says "what is in it" '"totals"' "$(cat "$work/tidy")"
}

# results PMU RESULT [SED]: of a run, changed by SED.
results()
{
	local failed=0

	[ "$2" != fail ] || failed=1
	sed "${3:-}" <<-EOT
	{"format": 1, "pmu": "$1", "kernel": "6.12.9+x", "architecture": "x86_64", "group": 4,
	"exact": true, "about": {"machine": "<b>&\u0041", "only $1": "yes"}, "checks": [
	{"area": "page", "name": "counters read from user space after a reset", "result": "$2", "rule": "says \"so\"",
	"lines": ["x < y"], "seen": [{"what": "things", "low": 1, "high": 3, "got": -4, "times": 2}]},
	{"area": "count", "name": "two", "result": "skip", "rule": "", "reason": "no time",
	"lines": [], "seen": []}], "notes": ["a note"],
	"totals": {"pass": $((1 - failed)), "fail": $failed, "skip": 1}}
	EOT
}

# The HTML page is well-formed: every element is closed, and nothing is loaded from elsewhere.
well_formed()
{
	python3 - "$1" <<-'EOT'
	import html.parser, sys
	class Page(html.parser.HTMLParser):
	    open = []
	    def handle_starttag(self, tag, attrs):
	        assert not {"src"} & dict(attrs).keys(), tag
	        assert dict(attrs).get("href", "#")[0] == "#", attrs
	        assert tag != "b", "the results are no markup"
	        if tag != "meta":
	            self.open.append(tag)
	    def handle_endtag(self, tag):
	        assert self.open.pop() == tag, tag
	page = Page()
	page.feed(open(sys.argv[1]).read())
	assert not page.open, page.open
	EOT
}

report=$work/root/usr/sbin/pmu-validate-report

page()
{
	results first fail >"$work/first.json"
	results second pass >"$work/second.json"
	expect_true "a page of one" "$report" "$work/first.json" --output "$work/one.html" &&
		expect_true "its elements" well_formed "$work/one.html" &&
		expect_says "expected and seen" '1..3</td><td class="n fail">-4' \
			"$(cat "$work/one.html")" &&
		expect_says "the machine" '&lt;b&gt;&amp;A' "$(cat "$work/one.html")" &&
		expect_true "a page of two" "$report" "$work/first.json" \
			--against "$work/second.json" --output "$work/two.html" &&
		expect_true "its elements" well_formed "$work/two.html" &&
		expect_says "both results" 'fail">fail</span></td><td class="r"><span class="pass' \
			"$(cat "$work/two.html")" &&
		expect_says "what is worse" 'these checks pass there, and do not pass here:</p>' "$(cat "$work/two.html")"
}

# Before any other table there are the verdict and the failures.
verdict_first()
{
	local name text

	results cpu fail >"$work/cpu.json"
	results cpu fail 's/"6.12.9+x"/"5.10.0"/' >"$work/5.10.json"
	results cpu fail 's/"about": {/&"PMU: module": "corepmu", /' >"$work/standin.json"
	results cpu pass >"$work/pass.json"
	results cpu fail 's/"area": "page", "name": "[^"]*"/"area": "error", "name": "ioctls"/
		s/"about": {/&"CPU: vendor_id": "Shanghai  ", /' >"$work/zhaoxin.json"
	sed 's/Shanghai/GenuineIntel/' "$work/zhaoxin.json" >"$work/intel.json"
	sed 's/"area": "error", "name": "ioctls"/"area": "branch", "name": "without flags and cycles"/' \
		"$work/intel.json" >"$work/lbr.json"
	sed 's/"about": {/&"CPU: arch_lbr": "yes", /' "$work/lbr.json" >"$work/arch-lbr.json"
	while IFS='|' read -r name text; do
		expect_says "the page of $name" "</h1><p class=\"verdict $text" "$("$report" "$work/$name.json" | tr -d '\n')" ||
			return 1
	done <<-'EOT'
	cpu|known">KNOWN: 1 check failed, each by a known defect;.*</p><h2>Failures</h2>.*things: expected 1..3, got -4.*pmc_width.*Linux 6.1-7.3; source: kernel/.*<h2>Areas
	5.10|fail">FAIL: 1 check failed, 0 of them by known defects;.*</p><h2>Failures</h2>.*none is known
	standin|fail">FAIL: 1 check failed, 0 of them
	zhaoxin|known">KNOWN: 1 check failed
	intel|fail">FAIL: 1 check failed, 0 of them
	lbr|fail">FAIL: 1 check failed, 0 of them
	arch-lbr|known">KNOWN: 1 check failed
	first|fail">FAIL: 1 check failed, 0 of them
	pass|pass">PASS: no check fails; 1 pass, 1 are skipped.</p><h2>Areas
	EOT
}

# The script can read every row, and each row names existing checks.
known_defects()
{
	expect_true "the table" python3 - tools/validate/known-defects.cfg <(
		"$tool" --list | grep -v '^	'
	) <<-'EOT'
	import configparser, re, sys
	table = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#")
	table.read(sys.argv[1])
	checks = open(sys.argv[2]).read().splitlines()
	assert table.sections() and checks
	for name in table.sections():
	    row = table[name]
	    assert not {"checks", "pmus", "architectures", "kernels", "what", "source", "found"} - row.keys(), name
	    assert not row.keys() - {"checks", "warning", "pmus", "modules", "architectures", "kernels", "vendor",
	                             "flag", "devicetree", "machine", "what", "source", "found"}, name
	    assert re.fullmatch(r"\d+\.\d+(-\d+\.\d+)?", row["kernels"]), name
	    assert row["checks"] or row.get("warning"), name
    for check in row["checks"].strip().splitlines():
	        assert check in checks, check
	EOT
}

table()
{
	local said

	said=$("$report" "$work/first.json" --against "$work/second.json" --table)
	expect_equal "status where a check is worse" 1 $? &&
		expect_says "the worse check" '^page: counters .* pass +fail$' "$said" || return 1
	said=$("$report" "$work/second.json" --against "$work/first.json" --table)
	expect_equal "status where a check is better" 0 $? &&
		expect_says "its totals" '^second: pass:1 fail:0 skip:1$' "$said" || return 1
	"$report" "$work/second.json" --against <(results other pass 's/"two"/"three"/; s/"skip", /"pass", /; s/"pass": 1/"pass": 2/; s/"skip": 1/"skip": 0/') \
		--table >/dev/null
	expect_equal "status where a check is missing" 1 $?
}

# A broken file is refused in one sentence, as results and as the file to compare with. No
# page is written.
refused()
{
	local words status

	for words in "$work/broken.json" "$work/second.json --against $work/broken.json"; do
		# shellcheck disable=SC2086 # words
		timeout 60 "$report" $words --output "$work/none.html" >"$work/said" 2>&1
		status=$?
		expect_equal "status for $1" 2 "$status" &&
			expect_equal "lines for $1" 1 "$(wc -l <"$work/said")" &&
			expect_says "sentence for $1" "${2:-does not hold the results of a complete run}" "$(cat "$work/said")" &&
			expect_true "no page for $1" test ! -e "$work/none.html" || return 1
	done
}

no_results()
{
	local text change size

	for text in '' '{' '[]' 'null' '1' '{"checks": 1}}' '{"checks": "\u12"}' '{"a" 1}' '{"format": 1}' \
		"$(printf '%0100000d' 0 | tr 0 '[')" "$(printf '%010000d' 7)" $'\377'; do
		printf '%s' "$text" >"$work/broken.json"
		refused "${text:0:20}" || return 1
	done
	while read -r change; do
		results second pass "$change" >"$work/broken.json"
		expect_not "an unchanged file after $change" '^$' "$(diff "$work/broken.json" "$work/second.json" | head -n 1)" &&
			refused "$change" || return 1
	done <<-'EOT'
	s/"format": 1/"format": 2/
	s/"notes": .*/&"incomplete": "a signal stopped it",/
	s/"pass": 1/"pass": 2/
	s/"pass": 1/"pass": true/
	s/"result": "pass"/"result": "good"/
	s/"name": "two"/"name": 2/
	s/"reason": "no time",//
	s/"got": -4/"got": NaN/
	s/"got": -4/"got": "4"/
	s/"got": -4/"got": -4, "got": 2/
	s/"rule": "",//
	s/"kernel": [^,]*,//
	s/"about": {[^}]*}/"about": []/
	s/"name": "two"/"name": "counters read from user space after a reset"/; s/"area": "count"/"area": "page"/
	$s/$/{}/
	EOT
	size=$(wc -c <"$work/second.json")
	for ((size -= 2; size > 0; size -= 50)); do
		head -c "$size" "$work/second.json" >"$work/broken.json"
		refused "the first $size bytes" || return 1
	done
	rm "$work/broken.json"
	refused "a file that is not there" 'broken.json: No such file or directory\.$'
}

# --save leaves nothing of an earlier run behind when the run is killed. This run waits for the reader of a
# pipe that is full.
save_is_emptied()
{
	local pid

	results second pass >"$work/save.json"
	mkfifo "$work/full"
	exec 3<>"$work/full"
	head -c 65536 /dev/zero >&3
	"$tool" --save "$work/save.json" >&3 2>/dev/null &
	pid=$!
	for _ in $(seq 1200); do
		[ -s "$work/save.json" ] || break
		sleep 0.05
	done
	expect_true "the run waits" kill -9 "$pid" && expect_equal "the file" "" "$(cat "$work/save.json")"
}

wrong_arguments()
{
	local words

	for words in "$tool --save" "$tool --pmu nowhere" "$tool --filter nothing-has-this" "$tool more" \
		"$report" "$report --table $work/first.json" "$report --colour $work/first.json"; do
		# shellcheck disable=SC2086 # words
		$words >"$work/said" 2>&1
		expect_equal "status of $words" 2 $? || return 1
	done
}

many_texts()
{
	local option texts

	for option in --filter --except; do
		texts=$(yes -- "$option x" | head -n 33)
		# shellcheck disable=SC2086 # words
		said=$("$tool" $texts 2>&1)
		expect_equal "status of 33 $option" 2 $? &&
			expect_says "what it says" "$option: the maximum is 32 texts" "$said" || return 1
	done
}

# Expectations with measured bounds; the first number is the measured one.
cat >"$work/measured.c" <<'EOT'
#include "judge/validate.h"

struct pmu pmu;
int open_instructions(void) { return -1; }

int main(void)
{
	expect_most("most of 0", 2, "samples", 0, 0);
	expect_part("part of 0", 1, "samples", 0, 0);
	expect_near("near 0", 0, 100, 0);
	expect_samples("of no period", 99, 100, 1, 1, 0);
	expect_samples("too few", 1000, 100, 1, 1, 8);
	expect_most("most of 1", 2, "samples", 1, 0);
	expect_part("none of 1", 1, "samples", 1, 0);
	expect_near("near 50", 50, 100, 0);
	expect_near("far from 50", 50, 10, 39);
	expect_samples("few", 100, 100, 2, 2, 0);
	expect_samples("too many", 1000, 100, 1, 2, 13);
	return 0;
}
EOT

measured_bounds()
{
	gcc -O2 -Wall -Itools/validate -Itools/lib -o "$work/measured" "$work/measured.c" \
		tools/validate/judge/expect.c tools/lib/{ktap,perf_util,task}.c &&
		expect_equal "what is said" "$(cat <<-'EOT'
		# samples: expected at least 1, got 0
		# samples: expected at least 1, got 0
		# near 0: expected a count above 0, got 0
		# of no period: expected a count of at least one period, 100, got 99
		# too few: expected 9..11, got 8
		# none of 1: expected 1..1, got 0
		# far from 50: expected 40..60, got 39
		# too many: expected 9..12, got 13
		EOT
		)" "$("$work/measured")"
}

# A clock that counts instructions, and a PMU that first counts a loop exactly, then 3 too few. At
# the end a CPU of 1 GHz, which executes the known loop, but not slow_loop(), at the pace of such a
# clock. Groups of up to four events count. Groups of five and six run for a part of the loop.
# Larger groups never run: their leader counts 1000 failed attempts to schedule them.
cat >"$work/exact.c" <<'EOT'
#include <fcntl.h>
#include <time.h>

#include "judge/outcome.h"
#include "judge/validate.h"

static unsigned long instructions, off;
static int members[64];
static unsigned int nr_members;
static u64 counted;

/* Nanoseconds of an instruction of slow_loop() */
static unsigned int slowly = 1;

void known_loop(unsigned long iterations) { instructions += LOOP_INSNS * iterations; }
void slow_loop(unsigned long iterations) { instructions += slowly * SLOW_INSNS * iterations; }

int clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	*ts = (struct timespec) { .tv_nsec = instructions };
	return 0;
}

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group, unsigned long flags)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)attr, (void)pid, (void)cpu, (void)flags;
	if (group < 0)
		nr_members = 0;
	else
		members[nr_members++] = fd;
	return fd;
}

void event_reset(int fd)
{
	(void)fd;
	counted = 0;
}

u64 event_count_loop(int fd, unsigned long iterations)
{
	(void)fd;
	return LOOP_INSNS * iterations + 30 - (iterations > 1 ? off : 0);
}

bool event_read_times(int fd, struct event_times *times)
{
	unsigned int size = 1, i;

	(void)fd;
	for (i = 0; i < nr_members; i++)
		size += fcntl(members[i], F_GETFD) >= 0;
	counted += size == 5 || size == 6 ? 600 : 1000;
	*times = (struct event_times) { .count = counted, .enabled = 1, .running = size < 7 };
	return true;
}

int main(void)
{
	for (; off < 4; off += 3) {
		find_out(false, false);
		printf("%s; %u events in a group\n", pmu.exactness, pmu.group);
	}
	slowly = 3;
	find_out(false, false);
	puts(pmu.exactness);
	return 0;
}
EOT

exactness_is_probed()
{
	gcc -O2 -Wall -Itools/validate -Itools/lib -Wl,-z,muldefs -o "$work/exact" "$work/exact.c" \
		tools/validate/judge/{probe,expect,guard,run}.c tools/validate/checks/system/identity.c tools/lib/{ktap,perf_util,ring,task}.c &&
		expect_equal "what the head says" "$(cat <<-'EOT'
		every count exact; 4 events in a group
		counts not exact (19995 for a loop of 19998), though the clock is; 4 events in a group
		counts up to 0.2 percent too high pass
		EOT
		)" "$("$work/exact")"
}

# A program that changes a file in a child, as a check does, and waits
cat >"$work/change.c" <<'EOT'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/guard.h"

int main(int argc, char **argv)
{
	pid_t child;
	int status;

	if (argc < 3 || (argv[2][0] == 'y' && !guard_start()))
		return 2;
	child = fork();
	if (!child) {
		setpgid(0, 0);
		guard_leave();
		status = change_number(argv[1], 7);
		if (!status)
			status = change_number(argv[1], 8);
		printf("%d %d\n", getpid(), status);
		fflush(stdout);
		sleep(60);
		_exit(0);
	}
	guard_judge(child);
	waitpid(child, &status, 0);
	guard_judge(0);
	guard_stop();
	return WIFSIGNALED(status) ? 3 : 0;
}
EOT

# change yes|no: start the program; sets main and child, and prints the status of the change
change()
{
	echo 5 >"$work/file"
	: >"$work/said"
	"$work/change" "$work/file" "$1" >"$work/said" &
	main=$!
	for _ in $(seq 1200); do
		[ ! -s "$work/said" ] || break
		sleep 0.05
	done
	read -r child changed <"$work/said"
	printf '%s\n' "$child" "$main" >>"$work/pids"
}

ends_with()
{
	for _ in $(seq 1200); do
		[ "$(cat "$work/file")" != "$1" ] || break
		sleep 0.05
	done
	expect_equal "what is in the file" "$1" "$(cat "$work/file")"
}

not_unasked()
{
	change no
	kill -9 "$child"
	wait "$main"
	expect_equal "status of a change that nobody allowed" -1 "$changed" && ends_with 5
}

put_back()
{
	change yes
	expect_equal "status of the change" 0 "$changed" &&
		expect_equal "what is in the file meanwhile" 8 "$(cat "$work/file")" || return 1
	case $1 in
	child) kill -9 "$child" ;;
	*) kill "-$1" "$main" ;;
	esac
	wait "$main"
	ends_with 5 && expect_true "the child has ended" gone "$child"
}

gone()
{
	for _ in $(seq 1200); do
		kill -0 "$1" 2>/dev/null || return 0
		sleep 0.05
	done
	return 1
}

plan 20
check "it builds, static, and is installed with its page" build
check "the manual page has every option of --help" every_option_is_in_the_page
check "every check that explains failures of others exists" every_cause_is_a_check
check "every rule is a sentence of its page" rules_are_quoted
check "--json is JSON, with a PMU and without" json_always
check "pmu-validate-report makes a page of results, and of two side by side" page
check "the page begins with the verdict and the failures, and marks known defects" verdict_first
check "the table of known defects names checks that there are" known_defects
check "--table tells by its status whether a check is worse" table
check "results that are not complete are refused" no_results
check "a run that is killed leaves no earlier results in its file" save_is_emptied
check "wrong arguments end with 2" wrong_arguments
check "more texts than an option takes are refused" many_texts
check "a measured bound is never below 0, and a measured 0 fails" measured_bounds
check "the head judges exactness by counts, and says the largest group that counts" exactness_is_probed
gcc -O2 -Wall -Itools/validate -o "$work/change" "$work/change.c" tools/validate/judge/guard.c || exit 1
check "without leave nothing is changed" not_unasked
for ending in child TERM HUP KILL; do
	check "changes are put back: $ending" put_back $ending
done
finish
