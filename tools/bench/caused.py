# SPDX-License-Identifier: GPL-2.0
"""Compare the instructions that two drivers cause in each operation, by their profiles.

caused.py BUILT-IN OURS: each argument is a guest's output. FILE.access has its profile by the
plugin pmu-access, and FILE.out/symbols the symbols of its kernel. A driver causes

- the instructions of its own functions,
- the instructions that perf core's functions execute with this driver only, and
- the accesses of x86's registers, whose functions all drivers share.

The floor is the instructions that both kernels execute: no driver changes them. Prints a line
"CAUSED operation built-in ours ratio floor" for each operation, and the median. The status is 1 if
a ratio is above the limit.
"""
import bisect
import collections
import re
import statistics
import sys

LIMIT = 0.80
# Operations without a limit: either driver causes only some tens of instructions
UNLIMITED = re.compile(r'(cpu-)?reset|(cpu-)?read|user-read')
# Functions of the scheduler's tick, of RCU, of the allocator and of its random numbers: a row has
# more or less of their work by chance
CHANCE = re.compile(r'clear_page|get_page_from|free_one_page|pcppages|_valid_or_report|mod_zone|'
                    r'free_unref|slab|kfree|^rb_|rmqueue|pfnblock|__free_pages|kmem_cache|memcg|'
                    r'printk|kallsyms|vsnprintf|rcu_|run_timer|hrtimer|tick_|'
                    r'(?<!event_)(?<!perf_)update_|sched_tick|scheduler|irq_(enter|exit)|ktime|'
                    r'timekeep|its_return|srso|chacha')
REGISTERS = re.compile(r'native_(read|write)_(msr|pmc)')
# A smaller difference, in instructions per operation, of one of perf core's functions is chance
LEAST = 2


def read_symbols(path):
    """Return the sorted addresses of a kernel's functions, and their names."""
    symbols = []
    with open(path, encoding='ascii') as lines:
        for line in lines:
            address, _, name = line.strip().split(' ', 2)
            symbols.append((int(address, 16), name))
    symbols.sort()
    return [address for address, _ in symbols], [name for _, name in symbols]


def read_marked(path):
    """Return the operations of a guest's output and their rounds."""
    with open(path, encoding='utf-8', errors='replace') as lines:
        words = [line.split() for line in lines if line.startswith('MARKED ')]
    return [(operation, int(rounds)) for _, operation, rounds in words]


def read_profile(path):
    """Return the instructions per round of each function, for each operation.

    The guest sets a mark before and after each operation's rounds.
    """
    addresses, names = read_symbols(path + '.out/symbols')
    operations = read_marked(path)
    profile = {operation: collections.Counter() for operation, _ in operations}
    function = rounds = None
    with open(path + '.access', encoding='ascii') as lines:
        for line in lines:
            words = line.split()
            if words[0] == 'mark':
                mark = int(words[1])
                function = None
                if mark % 2:
                    operation, rounds = operations[mark // 2]
                    function = profile[operation]
            elif words[0] == 'block' and function is not None:
                name = names[bisect.bisect_right(addresses, int(words[1], 16)) - 1]
                function[name] += int(words[2]) * int(words[3]) / rounds
    return profile


def compare(builtin, ours):
    """Return the instructions that each driver causes, and the floor."""
    caused = [0, 0]
    floor = 0
    for name in builtin.keys() | ours.keys():
        both = [builtin[name], ours[name]]
        if '[corepmu]' in name or REGISTERS.search(name):
            least = 0
        elif CHANCE.search(name):
            continue
        else:
            least = min(both)
            if max(both) - least < LEAST:
                least = max(both)
        floor += least
        caused = [total + max(cost - least, 0) for total, cost in zip(caused, both)]
    return caused[0], caused[1], floor


def main():
    """Print the table."""
    builtin, ours = (read_profile(path) for path in sys.argv[1:3])
    ratios = {}
    for operation, profile in builtin.items():
        if operation not in ours or operation in ('getppid', 'user-read'):
            continue
        theirs, our, floor = compare(profile, ours[operation])
        # Fewer instructions are chance: a driver has no work, as at a switch with per-CPU events.
        if min(theirs, our) <= 20:
            continue
        ratios[operation] = our / theirs
        print(f'CAUSED {operation} {theirs:.0f} {our:.0f} {ratios[operation]:.2f} {floor:.0f}')
    if not ratios:
        return 0 if '--rows' in sys.argv else 'caused.py: no operation was measured with both drivers.'
    print(f'MEDIAN {statistics.median(ratios.values()):.2f}')
    return any(ratio > LIMIT and not UNLIMITED.fullmatch(operation)
               for operation, ratio in ratios.items())


if __name__ == '__main__':
    sys.exit(main())
