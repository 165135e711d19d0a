# SPDX-License-Identifier: GPL-2.0
#
# Judge the KTAP of several suites, each between "# suite: NAME" and
# "# suite ended: NAME STATUS". Prints "passed N", "failed N", "skipped N", "suites N" and
# a line "broken SUITE: why" for whatever is wrong besides failed tests. A suite without
# plan, with other results than planned, with none at all, or that ends with a status
# which its results do not explain, counts as one failure more.

function broken(why)
{
	print "broken " suite ": " why
	failed++
}

function close_suite(status)
{
	if (suite == "")
		return
	if (planned < 0)
		broken("it printed no plan")
	else if (planned != results)
		broken("it planned " planned " tests and reported " results)
	else if (!planned && !skipped_all)
		broken("it ran no test")
	else if (status == "")
		broken("it did not end")
	else if (status != 0 && !suite_failed)
		broken("it ended with status " status " though no test failed")
	suites++
	suite = ""
}

{ sub(/\r$/, "") }

/^# suite: / {
	close_suite("")
	suite = substr($0, 10)
	planned = -1
	results = suite_failed = skipped_all = 0
	next
}

/^# suite ended: / { close_suite($NF); next }

suite == "" { next }

/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (!planned && toupper($0) ~ /# *SKIP/) {
		skipped_all = 1
		skipped++
	}
	next
}

/^not ok / { results++; suite_failed++; failed++; next }

/^ok / {
	results++
	if (toupper($0) ~ /# *SKIP/)
		skipped++
	else
		passed++
}

END {
	close_suite("")
	printf "passed %d\nfailed %d\nskipped %d\nsuites %d\n", passed, failed, skipped, suites
}
