# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034
#
# Jobs side by side, for a program that starts them and waits for each. Sourced, after lib.sh.
# When the program ends, by a signal too, so does whatever its jobs have started.

# The running jobs: the name of each job, by process ID
declare -A pid_job=()

# family PID: print a process and all processes that it has started, itself first.
family()
{
	local child children=()

	echo "$1"
	read -ra children 2>/dev/null <"/proc/$1/task/$1/children" || true
	for child in "${children[@]}"; do
		family "$child"
	done
}

end_jobs()
{
	local pid

	trap '' INT TERM HUP
	for pid in "${!pid_job[@]}"; do
		# shellcheck disable=SC2046 # a list of numbers
		kill $(family "$pid") 2>/dev/null || true
	done
}
trap end_jobs EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# start_job JOB COMMAND...: start a command as the job JOB.
start_job()
{
	"${@:2}" &
	pid_job[$!]=$1
}

# wait_job: wait for one of the jobs; set ended_job to its name.
wait_job()
{
	local pid

	wait -n -p pid "${!pid_job[@]}" || true
	ended_job=${pid_job[$pid]}
	unset "pid_job[$pid]"
}
