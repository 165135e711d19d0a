/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h - a control group with nobody in it but this program and its children
 */
#ifndef CGROUP_H
#define CGROUP_H

/**
 * cgroup_init() - make it, and be in it
 */
void cgroup_init(void);

/**
 * cgroup_fd() - the group
 *
 * Return: a descriptor, or -1 when there is none.
 */
int cgroup_fd(void);

#endif /* CGROUP_H */
