# SPDX-License-Identifier: GPL-2.0
#
# apt's one-line sources as "uri<TAB>suite<TAB>components<TAB>signed-by".

{ sub(/#.*/, "") }

$1 == "deb" {
	key = ""
	if (match($0, /\[[^]]*\]/)) {
		n = split(substr($0, RSTART + 1, RLENGTH - 2), option, " ")
		for (i = 1; i <= n; i++)
			if (sub(/^signed-by=/, "", option[i]))
				key = option[i]
		$0 = "deb " substr($0, RSTART + RLENGTH)
	}
	components = ""
	for (i = 4; i <= NF; i++)
		components = components (i > 4 ? " " : "") $i
	print $2 "\t" $3 "\t" components "\t" key
}
