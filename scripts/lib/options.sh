# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Options of the programs in scripts/: all of them are checked before anything is fetched, installed,
# built or booted. Sourced by lib.sh.

# print_help WORD...: with --help among the program's options, print the comment at its head.
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

# number OPTION VALUE: refuse a value that is not a whole number above zero.
number() {
	[[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || die -2 "$1 wants a whole number above zero, not '$2'."
}

# output_file OPTION FILE: refuse a file that cannot be written.
output_file() {
	local dir

	dir=$(dirname -- "$2")
	[[ $2 != */ ]] && [ ! -d "$2" ] || die -2 "$1 $2: it is a directory; name a file."
	[ -d "$dir" ] || die -2 "$1 $2: there is no directory $dir."
	{ [ -e "$2" ] && [ -w "$2" ]; } || { [ ! -e "$2" ] && [ -w "$dir" ]; } || die -2 "$1 $2: it cannot be written."
}

# check_pmu ARCH PMU: refuse a PMU that no driver of the architecture registers.
check_pmu() {
	local -A row=()
	local pattern patterns

	table_row "$TOP/scripts/arches.cfg" "$1" row || table_row "$TOP/scripts/arches-stock.cfg" "$1" row || return 0
	read -ra patterns <<<"${row[pmus]}"
	for pattern in "${patterns[@]}"; do
		# shellcheck disable=SC2053 # the right side is a pattern
		[[ $2 != $pattern ]] || return 0
	done
	die -2 "--pmu $2: no driver has a PMU of that name for ARCH=$1; choose one of: ${row[pmus]}."
}

# check_cpu ARCH CPU: refuse a row of cpus.cfg that is for another architecture.
check_cpu() {
	local -A row=()

	! table_row "$TOP/scripts/cpus.cfg" "$2" row || [ "${row[arch]}" = "$1" ] ||
		die -2 "CPU=$2 is for ARCH=${row[arch]}, not for $1."
}

# ask_qemu QEMU REQUEST: QMP's answer, of a QEMU without a machine
ask_qemu() {
	printf '%s\n' '{"execute": "qmp_capabilities"}' "$2" '{"execute": "quit"}' |
		timeout 60 "$1" -M none -display none -nodefaults -qmp stdio 2>/dev/null || true
}

# check_cpu_model ARCH QEMU CPU: refuse a model that QEMU has not, and one of 32 bits. CPU may have
# options, and may be a row of cpus.cfg. What QEMU has no answer to is let pass.
check_cpu_model() {
	local model=${3%%,*} known answer
	local -A row=()

	[ "$model" != host ] && ! table_row "$TOP/scripts/cpus.cfg" "$model" row || return 0
	known=$(ask_qemu "$2" '{"execute": "query-cpu-definitions"}')
	[[ $known == *'"typename"'* ]] || return 0
	[[ $known == *"\"name\": \"$model\""* ]] ||
		die -2 "CPU=$model is not known for ARCH=$1: choose one of scripts/cpus.cfg (make help prints them), or a CPU model of QEMU ($2 -cpu help prints them)."
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
	[ -z "$answer" ] || die -2 "CPU=$model is a CPU of 32 bits; ARCH=$1 needs one of 64 bits, such as ${A[cpu]}."
}

# check_modparam WORDS: refuse module parameters that the driver has not; the kernel would ignore them.
check_modparam() {
	local known word parts

	known=$(grep -rhoE '^module_param(_named|_cb|_string)?\([a-z_]+' "$TOP/drivers" | sed 's/.*(//' | sort -u | xargs)
	read -ra parts <<<"$1"
	for word in "${parts[@]}"; do
		[[ " $known dyndbg " == *" ${word%%=*} "* ]] ||
			die -2 "--modparam $word: the module has no such parameter; choose one of: $known."
	done
}

# check_plugin NAME[,OPTIONS]
check_plugin() {
	local known

	known=$(sed -n 's/^plugins[[:space:]]*:= *//p' "$TOP/tools/qemu/Makefile")
	[[ " $known " == *" ${1%%,*} "* ]] ||
		die -2 "there is no QEMU plugin ${1%%,*} in tools/qemu; choose one of: $known."
}

# options_are_good: all options have been checked. What make wants installed (COREPMU_DEPS, words of
# install-deps) is installed now; with "none" that was all.
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
