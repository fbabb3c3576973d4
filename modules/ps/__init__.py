# SPDX-License-Identifier: Apache-2.0
"""Processes, and what the machine as a whole is busy with."""

from __future__ import annotations

from modules.ps._machine import (
    boot_time,
    cpu_percent,
    cpu_times,
    disk_io_counters,
    disk_partition_usage,
    disk_partitions,
    disk_usage,
    get_users,
    network_io_counters,
    num_cpus,
    swap_memory,
    total_physical_memory,
    virtual_memory,
)
from modules.ps._processes import (
    check_signal,
    get_pid_list,
    kill_pid,
    left_of,
    lsof,
    netstat,
    others,
    pgrep,
    pkill,
    proc_info,
    psaux,
    ss,
    status,
    top,
)
