# SPDX-License-Identifier: GPL-2.0
#
# apt's deb822 sources as "uri<TAB>suite<TAB>components<TAB>signed-by"; the line
# ends of a key given inline become \001.

function stanza(    u, s, i, j, nu, ns)
{
	if (field["types"] ~ /(^| )deb( |$)/ && tolower(field["enabled"]) != "no") {
		nu = split(field["uris"], u, " ")
		ns = split(field["suites"], s, " ")
		for (i = 1; i <= nu; i++)
			for (j = 1; j <= ns; j++)
				print u[i] "\t" s[j] "\t" field["components"] "\t" field["signed-by"]
	}
	delete field
	name = ""
}

/^#/ { next }
/^[ \t]*$/ { stanza(); next }
/^[ \t]/ {
	if (name == "signed-by")
		field[name] = field[name] "\001" $0
	else if (name != "")
		field[name] = field[name] " " $0
	next
}
{
	name = tolower($0)
	sub(/:.*/, "", name)
	value = $0
	sub(/^[^:]*:[ \t]*/, "", value)
	sub(/[ \t]+$/, "", value)
	field[name] = value
}
END { stanza() }
