// SPDX-License-Identifier: GPL-2.0-only
/*
 * maps.c - unusual operations on a buffer while the kernel writes samples to it
 *
 * The kernel may reject any of them, but must survive all. A process that accesses an unmapped
 * part dies by SIGSEGV: only children access the buffer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_util.h"
#include "storm.h"

#define MAPS_PERIOD		20000
#define MAPS_LOOP		2000
#define MAPS_MOST_PAGES		16
#define MAPS_PER_EVENT		40
#define MAPS_PAUSE_US		2000

enum odd_thing {
	MAPS_MOVE,
	MAPS_GROW,
	MAPS_CUT_END,
	MAPS_CUT_MIDDLE,
	MAPS_PROTECT,
	MAPS_ADVISE,
	MAPS_LOCK,
	MAPS_AGAIN,
	MAPS_OTHER_SIZE,
	MAPS_PART,
	MAPS_PRIVATE,
	MAPS_FORK,
	MAPS_SPLICE,
	MAPS_POLL,
	MAPS_EPOLL,
	MAPS_WRITE,
	MAPS_DUP,
	MAPS_NR
};

/**
 * struct mapped - an event with a buffer for unusual operations
 * @fd: the event
 * @map: present or former address of its buffer
 * @pages: number of its pages, including the first one
 * @page_size: bytes of a page
 */
struct mapped {
	int fd;
	char *map;
	size_t pages;
	size_t page_size;
};

static void fork_and_touch(const struct mapped *mapped)
{
	pid_t pid = fork();

	if (!pid) {
		known_loop(MAPS_LOOP);
		*(volatile char *)(mapped->map + mapped->page_size);
		mapped->map[0] = 1;
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void splice_out(const struct mapped *mapped)
{
	struct { char *at; size_t len; } vec = { mapped->map, mapped->page_size };
	int fds[2];

	if (pipe2(fds, O_NONBLOCK))
		return;
	splice(mapped->fd, NULL, fds[1], NULL, mapped->page_size, SPLICE_F_NONBLOCK);
	splice(fds[0], NULL, mapped->fd, NULL, mapped->page_size, SPLICE_F_NONBLOCK);
	vmsplice(fds[1], (const struct iovec *)&vec, 1, SPLICE_F_NONBLOCK);
	close(fds[0]);
	close(fds[1]);
}

static void wait_by_epoll(const struct mapped *mapped)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = epoll_create1(0);

	if (fd < 0)
		return;
	epoll_ctl(fd, EPOLL_CTL_ADD, mapped->fd, &event);
	known_loop(MAPS_LOOP);
	epoll_wait(fd, &event, 1, 1);
	close(fd);
}

static void map_once_more(const struct mapped *mapped, size_t pages, int flags, size_t from)
{
	const size_t size = pages * mapped->page_size;
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, mapped->fd,
			 from * mapped->page_size);

	if (map == MAP_FAILED)
		return;
	known_loop(MAPS_LOOP);
	munmap(map, size);
}

static void move_mapping(struct mapped *mapped)
{
	const size_t size = mapped->pages * mapped->page_size;
	void *to = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *map;

	if (to == MAP_FAILED)
		return;
	map = mremap(mapped->map, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to);
	if (map == MAP_FAILED)
		munmap(to, size);
	else
		mapped->map = map;
}

static void do_odd_thing(struct mapped *mapped, struct fuzz_rng *rng)
{
	static const int advice[] = {
		MADV_DONTFORK, MADV_DOFORK, MADV_DONTNEED, MADV_WILLNEED, MADV_REMOVE
	};
	const size_t size = mapped->pages * mapped->page_size;
	struct pollfd poll_fd = { .fd = mapped->fd, .events = POLLIN };

	switch ((enum odd_thing)fuzz_below(rng, MAPS_NR)) {
	case MAPS_MOVE:
		move_mapping(mapped);
		break;
	case MAPS_GROW:
		if (mremap(mapped->map, size, 2 * size, 0) != MAP_FAILED)
			mapped->pages *= 2;
		break;
	case MAPS_CUT_END:
		munmap(mapped->map + size - mapped->page_size, mapped->page_size);
		break;
	case MAPS_CUT_MIDDLE:
		munmap(mapped->map + mapped->page_size, mapped->page_size);
		break;
	case MAPS_PROTECT:
		mprotect(mapped->map, size, fuzz_percent(rng, 50) ? PROT_READ : PROT_NONE);
		break;
	case MAPS_ADVISE:
		madvise(mapped->map, size, advice[fuzz_below(rng, ARRAY_SIZE(advice))]);
		break;
	case MAPS_LOCK:
		mlock(mapped->map, size);
		munlock(mapped->map, size);
		break;
	case MAPS_AGAIN:
		map_once_more(mapped, mapped->pages, MAP_SHARED, 0);
		break;
	case MAPS_OTHER_SIZE:
		map_once_more(mapped, 1 + (1UL << fuzz_below(rng, 5)), MAP_SHARED, 0);
		break;
	case MAPS_PART:
		map_once_more(mapped, 1 + fuzz_below(rng, 4), MAP_SHARED, fuzz_below(rng, 4));
		break;
	case MAPS_PRIVATE:
		map_once_more(mapped, mapped->pages, MAP_PRIVATE, 0);
		break;
	case MAPS_FORK:
		if (!fuzz_below(rng, 4))
			fork_and_touch(mapped);
		break;
	case MAPS_SPLICE:
		splice_out(mapped);
		break;
	case MAPS_POLL:
		poll(&poll_fd, 1, 1);
		break;
	case MAPS_EPOLL:
		wait_by_epoll(mapped);
		break;
	case MAPS_WRITE:
		if (write(mapped->fd, "", 1) > 0 || lseek(mapped->fd, 8, SEEK_SET) < 0)
			ftruncate(mapped->fd, 0);
		break;
	case MAPS_DUP:
		/* The event ends with its last descriptor and its last mapping. */
		close(dup(mapped->fd));
		break;
	case MAPS_NR:
		break;
	}
}

static void torment_map(struct fuzz_rng *rng)
{
	struct mapped mapped = { .page_size = sysconf(_SC_PAGESIZE) };
	struct perf_event_attr attr;

	attr_init(&attr, fuzz_percent(rng, 50) ? ARCH_EVENT_CYCLES : ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	attr.sample_period = MAPS_PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.inherit = fuzz_percent(rng, 20);
	attr.write_backward = fuzz_percent(rng, 20);
	attr.wakeup_events = 1;
	mapped.fd = event_open(&attr, 0, -1, -1, 0);
	if (mapped.fd < 0)
		return;
	mapped.pages = 1 + (1UL << fuzz_below(rng, 5));
	mapped.map = mmap(NULL, mapped.pages * mapped.page_size, PROT_READ | PROT_WRITE,
			  MAP_SHARED, mapped.fd, 0);
	if (mapped.map != MAP_FAILED) {
		for (unsigned int i = 0; i < MAPS_PER_EVENT; i++) {
			do_odd_thing(&mapped, rng);
			known_loop(MAPS_LOOP);
			tally_add(&tally->maps, 1);
		}
	}
	/* Unmap first, or close first. */
	if (fuzz_percent(rng, 50))
		close(mapped.fd);
	else
		attr.disabled = 1;
	if (mapped.map != MAP_FAILED)
		munmap(mapped.map, mapped.pages * mapped.page_size);
	if (attr.disabled)
		close(mapped.fd);
}

void use_maps(u64 seed, time_t end)
{
	struct fuzz_rng rng = { .state = seed ^ MAPS_PERIOD };

	while (storm_now() < end) {
		torment_map(&rng);
		usleep(MAPS_PAUSE_US);
	}
}
