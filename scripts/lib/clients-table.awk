# SPDX-License-Identifier: GPL-2.0
#
# Print a table of what clients did on several drivers, a row for each test. The input is files
# CLIENT.DRIVER.ktap, which begin with "# client: NAME VERSION". The variable "drivers" names the
# drivers, the built-in one first. Rows with a defect end with an arrow, and the status is 1: a
# test that the built-in driver passes and another driver does not, or that is missing there, or
# a suite that did not end with any driver. A test that a driver skips "by design" is no defect.

BEGIN { drivers_nr = split(drivers, driver, " ") }

FNR == 1 {
	parts = split(FILENAME, part, /[.\/]/)
	here = part[parts - 1]
}

/^# client: / {
	client = $3
	version = $4
	ran[client, here] = 1
	next
}

/^(not )?ok / {
	result = /^not/ ? "fails" : /# SKIP by design/ ? "differs" : /# SKIP/ ? "skipped" : "ok"
	sub(/^(not )?ok [0-9]+ (- )?/, "")
	sub(/ # SKIP.*/, "")
	row = sprintf("%-12s %-18s %-52s", client, version, $0)
	if (!(row in seen)) {
		seen[row] = 1
		order[++n] = row
		whose[row] = client
	}
	got[row, here] = result
	if (/^the suite comes to its end$/)
		broken[row] = 1
}

END {
	printf "%-12s %-18s %-52s", "client", "version", "what"
	for (d = 1; d <= drivers_nr; d++)
		printf " %-9s", driver[d]
	print ""
	for (i = 1; i <= n; i++) {
		row = order[i]
		printf "%s", row
		worse = row in broken
		for (d = 1; d <= drivers_nr; d++) {
			result = (row, driver[d]) in got ? got[row, driver[d]] : "-"
			printf " %-9s", result
			if (got[row, driver[1]] == "ok" && result !~ /^(ok|differs)$/ &&
			    (whose[row], driver[d]) in ran)
				worse = 1
		}
		print worse ? " <--" : ""
		bad += worse
	}
	printf "\n%d tests, %d of them worse than with the built-in driver\n", n, bad
	exit !n || bad > 0
}
