#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pmu-fuzz as a suite of tools/testing: a few seconds of a storm

exec pmu-fuzz --pmu "${PMU:-corepmu}" --seed 1 --seconds 6 --workers 2
