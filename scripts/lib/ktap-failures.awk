# SPDX-License-Identifier: GPL-2.0
#
# Of the KTAP of several suites: each failed test under its suite's name, with the
# diagnostic lines before it, and the tail of a suite that did not end.

/^# suite: / {
	suite = $0
	named = 0
	notes = ""
	open = 1
	next
}
/^# suite ended: / { open = 0; next }
/^not ok / {
	if (!named++)
		print suite
	printf "%s%s\n", notes, $0
	notes = ""
	next
}
/^ok / { notes = ""; next }
{ notes = notes $0 "\n" }
END {
	if (open)
		printf "%s\n%s", suite, notes
}
