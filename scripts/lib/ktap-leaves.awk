# SPDX-License-Identifier: GPL-2.0
#
# Of KUnit's nested KTAP, each innermost result, a case or one of its parameters, as a line
# of its own with its whole name; all else becomes diagnostics. Failures that no innermost
# result explains, results that are missing, and blocks with other results than planned
# are results that failed.
# The plan comes last, and not at all when the outermost block did not come to its end.

function note(text) { print "# " text }

function result(ok, name, rest)
{
	printf "%sok %d %s%s\n", ok ? "" : "not ", ++nr, name, rest
}

# The end of the block at depth d, which is inside the result that is told of.
function close_block(d)
{
	if ((d in planned) && planned[d] != seen[d]) {
		result(0, path(d), ": it planned " planned[d] " and reported " seen[d])
		failed[d]++
	}
	delete planned[d]
	seen[d] = failed[d] = 0
	subtest[d] = ""
}

function path(d,    i, text)
{
	for (i = 1; i <= d; i++)
		if (subtest[i] != "")
			text = text (text == "" ? "" : ": ") subtest[i]
	return text
}

{
	sub(/\r$/, "")
	match($0, /^ */)
	depth = RLENGTH / 4
	line = substr($0, RLENGTH + 1)
}

line ~ /^# Subtest: / { subtest[depth] = substr(line, 12); next }

line ~ /^1\.\.[0-9]+/ { planned[depth] = substr(line, 4) + 0; next }

line ~ /^(not )?ok [0-9]+ / {
	ok = line !~ /^not /
	number = name = line
	sub(/^(not )?ok /, "", number)
	sub(/^(not )?ok [0-9]+ (- )?/, "", name)
	rest = ""
	if (match(name, / # /)) {
		rest = substr(name, RSTART)
		name = substr(name, 1, RSTART - 1)
	}
	# KUnit's own, of a test whose parameters are machines
	if (rest ~ /^ # SKIP *$/)
		rest = " # SKIP none of the machines has what it tests"
	if (number + 0 != ++seen[depth]) {
		result(0, path(depth) (depth ? ": " : "") name, ": a result before it is missing")
		seen[depth] = number + 0
	}
	inner = depth + 1
	if (seen[inner] || (inner in planned)) {
		had_failed = failed[inner]
		close_block(inner)
		if (!ok && !had_failed)
			result(0, path(depth) (depth ? ": " : "") name, rest)
	} else {
		result(ok, path(depth) (depth ? ": " : "") name, rest)
	}
	if (!ok)
		failed[depth]++
	next
}

line != "" { note(line) }

END {
	if ((0 in planned) && planned[0] == seen[0])
		print "1.." nr
}
