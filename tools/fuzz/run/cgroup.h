/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h - a control group that has only this program and its children
 */
#ifndef CGROUP_H
#define CGROUP_H

/**
 * cgroup_init() - create the control group, and join it
 */
void cgroup_init(void);

/**
 * cgroup_fd() - return the control group
 *
 * Return: a descriptor, or -1 without a control group.
 */
int cgroup_fd(void);

#endif /* CGROUP_H */
