"""Parameters of the running kernel."""

from pathlib import Path

from modules import sysctl


def test_a_value_is_read_whole() -> None:
    """A file of /proc/sys has no size, and gives nothing to a second read."""
    value = Path("/proc/sys/kernel/pid_max").read_text().strip()
    assert len(value) > 1
    assert sysctl.get("kernel.pid_max") == value
