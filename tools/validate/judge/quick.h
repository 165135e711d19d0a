/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * quick.h - a verdict on a machine's counts within ten seconds
 */
#ifndef QUICK_H
#define QUICK_H

/**
 * quick_verdict() - print in one line whether the PMU's counts can be trusted
 *
 * The tests run one after the other, each with a single event of this process. They change no
 * setting, and take one counter at a time. After QUICK_SECONDS the process exits with the verdict
 * that the PMU cannot be trusted.
 *
 * Return: 0 if the counts can be trusted, 1 if not.
 */
int quick_verdict(void);

#define QUICK_SECONDS	10

#endif /* QUICK_H */
