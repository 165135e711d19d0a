# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Checks of the options of the programs in scripts/. A program checks all its options before it fetches,
# installs, builds or boots anything. Sourced by lib.sh.

# print_help WORD...: if --help or -h is among the WORDs before "--", print the comment at the head of
# the program and end it.
print_help() {
	local word

	[ -f "$0" ] || return 0
	for word; do
		case $word in
		--) return ;;
		--help | -h)
			sed -n '4,${ /^#/!q; s/^# \{0,1\}//; p }' "$0"
			exit 0
			;;
		esac
	done
}

# number OPTION VALUE: refuse a VALUE that is not a whole number from 1 to 9999999.
number() {
	[[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || die -2 "$1 wants a whole number from 1 to 9999999, not '$2'."
}

# Without --shard a run is shard 1 of 1.
shard=1
shards=1

# read_shard I/N: set $shard and $shards; end if I/N is not a shard.
read_shard() {
	{ [[ $1 =~ ^[1-9][0-9]{0,3}/[1-9][0-9]{0,3}$ ]] && [ "${1%/*}" -le "${1#*/}" ]; } ||
		die -2 "--shard wants I/N, shard I of N from 1/N to N/N, not '$1'."
	shard=${1%/*} shards=${1#*/}
}

# keep_shard ARRAY: keep every $shards-th word of an array, from the $shard-th on.
keep_shard() {
	local -n all=$1
	local i kept=()

	for ((i = shard - 1; i < ${#all[@]}; i += shards)); do
		kept+=("${all[i]}")
	done
	all=("${kept[@]}")
}

# output_file OPTION FILE: refuse a FILE that cannot be written.
output_file() {
	local dir

	dir=$(dirname -- "$2")
	[[ $2 != */ ]] && [ ! -d "$2" ] || die -2 "$1 $2: this is a directory; name a file."
	[ -d "$dir" ] || die -2 "$1 $2: there is no directory $dir; create it or name another file."
	{ [ -e "$2" ] && [ -w "$2" ]; } || { [ ! -e "$2" ] && [ -w "$dir" ]; } || die -2 "$1 $2: the file is not writable; name another one."
}

# output_dir OPTION DIR: refuse a DIR that cannot be created or written.
output_dir() {
	local dir=$2

	[ -e "$dir" ] || dir=$(dirname -- "$dir")
	[ -d "$dir" ] || die -2 "$1 $2: $dir is no directory; create it or name another one."
	[ -w "$dir" ] || die -2 "$1 $2: the directory $dir is not writable; name another one."
}

# check_pmu ARCH PMU: refuse a PMU name that no driver registers on ARCH.
check_pmu() {
	local -A row=()
	local pattern patterns

	table_row "$TOP/scripts/tables/arches.cfg" "$1" row || table_row "$TOP/scripts/tables/arches-stock.cfg" "$1" row || return 0
	read -ra patterns <<<"${row[pmus]}"
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # the right side is a pattern
		[[ $2 != $pattern ]] || return 0
	done
	die -2 "--pmu $2: no driver registers a PMU of that name on ARCH=$1; choose one of: ${row[pmus]}."
}

# check_cpu ARCH CPU: refuse a CPU that cpus.cfg has for another architecture.
check_cpu() {
	local -A row=()

	! table_row "$TOP/scripts/tables/cpus.cfg" "$2" row || [ "${row[arch]}" = "$1" ] ||
		die -2 "CPU=$2 is for ARCH=${row[arch]}, not for ARCH=$1."
}

# ask_qemu QEMU REQUEST: start QEMU without a machine and print its QMP answer to REQUEST.
ask_qemu() {
	printf '%s\n' '{"execute": "qmp_capabilities"}' "$2" '{"execute": "quit"}' |
		timeout 60 "$1" -M none -display none -nodefaults -qmp stdio 2>/dev/null || true
}

# check_cpu_model ARCH QEMU CPU: refuse a CPU model that QEMU does not know or that has 32 bits. CPU may
# have options ("max,pmu=on"). A row of cpus.cfg and "host" pass, and so does every CPU if QEMU does
# not answer.
check_cpu_model() {
	local model=${3%%,*} known answer
	local -A row=()

	[ "$model" != host ] && ! table_row "$TOP/scripts/tables/cpus.cfg" "$model" row || return 0
	known=$(ask_qemu "$2" '{"execute": "query-cpu-definitions"}')
	[[ $known == *'"typename"'* ]] || return 0
	[[ $known == *"\"name\": \"$model\""* ]] ||
		die -2 "CPU=$model is not known for ARCH=$1: choose one of scripts/tables/cpus.cfg (make help prints them), or a CPU model of QEMU ($2 -cpu help prints them)."
	case $1 in
	x86_64)
		answer=$(ask_qemu "$2" "{\"execute\": \"query-cpu-model-expansion\", \"arguments\":
			{\"type\": \"full\", \"model\": {\"name\": \"$model\"}}}" | grep -o '"lm": false')
		;;
	arm64)
		answer=$(ask_qemu "$2" '{"execute": "qom-list-types", "arguments": {"implements": "aarch64-cpu"}}')
		[[ $answer == *'-arm-cpu"'* && $answer != *"\"$model-arm-cpu\""* ]] || answer=
		;;
	riscv64) answer=$(grep 32 <<<"$model") ;;
	*) answer= ;;
	esac || true
	[ -z "$answer" ] || die -2 "CPU=$model is a CPU of 32 bits; ARCH=$1 needs one of 64 bits, such as CPU=${A[cpu]}."
}

# check_modparam WORDS: refuse module parameters that the driver does not have: the kernel would load
# the module and ignore them.
check_modparam() {
	local known word parts

	known=$(grep -rhoE '^module_param(_named|_cb|_string)?\([a-z_]+' "$TOP/drivers" | sed 's/.*(//' | sort -u | xargs)
	read -ra parts <<<"$1"
	for word in "${parts[@]}"; do
		[[ " $known dyndbg " == *" ${word%%=*} "* ]] ||
			die -2 "--modparam $word: the module has no such parameter; choose one of: $known."
	done
}

# check_plugin NAME[,OPTIONS]: refuse a QEMU plugin that tools/qemu does not build.
check_plugin() {
	local known

	known=$(sed -n 's/^plugins[[:space:]]*:= *//p' "$TOP/tools/qemu/Makefile")
	[[ " $known " == *" ${1%%,*} "* ]] ||
		die -2 "there is no QEMU plugin ${1%%,*} in tools/qemu; choose one of: $known."
}

# options_are_good: call this when all options have been checked. It installs the packages that make
# asks for: COREPMU_DEPS has arguments of install-deps. With COREPMU_DEPS=none the program ends here.
options_are_good() {
	local parts

	read -ra parts <<<"${COREPMU_DEPS:-}"
	unset COREPMU_DEPS
	case ${parts[*]} in
	'') ;;
	none) exit 0 ;;
	*) "$TOP/scripts/install-deps" "${parts[@]}" ;;
	esac
}
