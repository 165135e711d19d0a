# SPDX-License-Identifier: GPL-2.0
#
# table.awk: print all stanzas of a table; with -v only=NAME, stanza NAME only. A stanza can stand
# for several:
#
# cpus = CPU...   in a stanza [...*...]: a stanza for each CPU, with "cpu = CPU" and CPU as "*"
# twin = KERNELS  a second stanza NAME-builtin, like NAME: the built-in driver, in `make check-all`
#                 only, on KERNELS; "same": on the kernels of NAME
#
# In tables of tools/testing a stanza [x86-...] without arches gets "arches = x86_64".

function put(name, lines)
{
	if (only == "" || only == name)
		printf "[%s]\n%s%s", name, name ~ /^x86-/ ? x86 : "", lines
}

function put_stanza(    names, nr, i, name)
{
	x86 = FILENAME ~ /tools\/testing\// && lines !~ /(^|\n)arches *=/ ? "arches = x86_64\n" : ""
	nr = cpus == "" ? 1 : split(cpus, names, " ")
	if (cpus != "" && head !~ /\*/ && !refused) {
		print FILENAME ": [" head "] has cpus, so its name needs a *" >"/dev/stderr"
		refused = 1
		exit 1
	}
	for (i = 1; i <= nr && head != "" && !refused; i++) {
		name = head
		if (cpus != "")
			sub(/\*/, names[i], name)
		put(name, lines (cpus == "" ? "" : "cpu = " names[i] "\n"))
		if (kernels != "")
			put(name "-builtin", "like = " name "\nwhen = check-all\nmode = builtin\n" \
			    (kernels == "same" ? "" : "kernels = " kernels "\n"))
	}
	lines = cpus = kernels = ""
}

/^\[.*\][ \t]*$/ {
	put_stanza()
	head = substr($0, 2, index($0, "]") - 2)
	next
}
/^(cpus|twin)[ \t]*=/ {
	value = $0
	gsub(/^[^=]*=[ \t]*|[ \t]+$/, "", value)
	if (/^cpus/)
		cpus = value
	else
		kernels = value
	next
}
{ lines = lines $0 "\n" }
END { put_stanza() }
