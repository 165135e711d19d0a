# SPDX-License-Identifier: GPL-2.0
#
# Print a table of what clients did on several drivers, a row for each test. The input is files
# CLIENT.DRIVER.ktap, which begin with "# client: NAME VERSION". The variable "drivers" names the
# drivers, the built-in one first. Rows with a defect end with an arrow, and the status is 1: a
# test that the built-in driver passes and another driver does not, or that is missing there, or
# a suite that did not end with any driver. A test that a driver skips "by design" is no defect.
# A row that the built-in driver fails compares nothing. The last lines count such rows, and name
# each client without a row that the built-in driver passes.
#
# A line "# figure TOLERANCE NUMBER NAME" is a row, too: the number must be that of the built-in
# driver, up to TOLERANCE percent.

BEGIN { drivers_nr = split(drivers, driver, " ") }

FNR == 1 {
	parts = split(FILENAME, part, /[.\/]/)
	here = part[parts - 1]
}

/^# client: / {
	client = $3
	version = $4
	ran[client, here] = 1
	clients[client] = 1
	next
}

# add_result(name, result): note a result of this client with this driver. Return the row.
function add_result(name, result,    row)
{
	row = sprintf("%-12s %-18s %-52s", client, version, name)
	if (!(row in seen)) {
		seen[row] = 1
		order[++n] = row
		whose[row] = client
	}
	got[row, here] = result
	return row
}

function is_worse(row, builtin, result)
{
	if (row in tolerance)
		return result == "-" || (result - builtin) ^ 2 * 10000 > (tolerance[row] * builtin) ^ 2
	return builtin == "ok" && result !~ /^(ok|differs)$/
}

/^# figure / {
	percent = $3
	number = $4
	sub(/^# figure [^ ]+ [^ ]+ /, "")
	tolerance[add_result($0, number)] = percent
}

/^(not )?ok / {
	result = /^not/ ? "fails" : /# SKIP by design/ ? "differs" : /# SKIP/ ? "skipped" : "ok"
	if (here == driver[1] && result == "ok")
		compared[client] = 1
	sub(/^(not )?ok [0-9]+ (- )?/, "")
	sub(/ # SKIP.*/, "")
	row = add_result($0, result)
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
			if ((row, driver[1]) in got && (whose[row], driver[d]) in ran &&
			    is_worse(row, got[row, driver[1]], result))
				worse = 1
		}
		print worse ? " <--" : ""
		bad += worse
		failed += (row, driver[1]) in got && got[row, driver[1]] == "fails"
	}
	printf "\n%d rows: %d worse than with the built-in driver, %d that the built-in driver fails\n",
		n, bad, failed
	for (client in clients)
		if (!(client in compared))
			print client ": the built-in driver passes no row, so nothing is compared"
	exit !n || bad > 0
}
