# SPDX-License-Identifier: Apache-2.0
"""The settings that daemons of systemd know, from version 247 to 258, older names too. What is
newer the file that comes with a daemon names, commented out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from modules import file
from runner.api.near import closest

_MANAGER = """
    CPUAffinity CapabilityBoundingSet CrashAction CrashChVT CrashChangeVT CrashReboot CrashShell
    CtrlAltDelBurstAction DefaultBlockIOAccounting DefaultCPUAccounting
    DefaultCPUPressureThresholdSec DefaultCPUPressureWatch DefaultDeviceTimeoutSec
    DefaultEnvironment DefaultIOAccounting DefaultIOPressureThresholdSec DefaultIOPressureWatch
    DefaultIPAccounting DefaultLimitAS DefaultLimitCORE DefaultLimitCPU DefaultLimitDATA
    DefaultLimitFSIZE DefaultLimitLOCKS DefaultLimitMEMLOCK DefaultLimitMSGQUEUE DefaultLimitNICE
    DefaultLimitNOFILE DefaultLimitNPROC DefaultLimitRSS DefaultLimitRTPRIO DefaultLimitRTTIME
    DefaultLimitSIGPENDING DefaultLimitSTACK DefaultMemoryAccounting
    DefaultMemoryPressureThresholdSec DefaultMemoryPressureWatch DefaultMemoryZSwapWriteback
    DefaultOOMPolicy DefaultOOMScoreAdjust DefaultRestartSec DefaultRestrictSUIDSGID
    DefaultSmackProcessLabel DefaultStandardError DefaultStandardOutput DefaultStartLimitBurst
    DefaultStartLimitInterval DefaultStartLimitIntervalSec DefaultTasksAccounting DefaultTasksMax
    DefaultTimeoutAbortSec DefaultTimeoutStartSec DefaultTimeoutStopSec DefaultTimerAccuracySec
    DumpCore EventLoopRateLimitBurst EventLoopRateLimitIntervalSec JoinControllers
    KExecWatchdogSec LogColor LogLevel LogLocation LogTarget LogTime ManagerEnvironment
    MinimumUptimeSec NUMAMask NUMAPolicy NoNewPrivileges ProtectSystem RebootWatchdogSec
    ReloadLimitBurst ReloadLimitIntervalSec RuntimeWatchdogPreGovernor RuntimeWatchdogPreSec
    RuntimeWatchdogSec ShowStatus ShutdownWatchdogSec StatusUnitFormat SystemCallArchitectures
    TimerSlackNSec WatchdogDevice
"""
# daemon -> section -> settings; the first section is the one that need not be named
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "journald": {
        "Journal": """
            Audit Compress ForwardToConsole ForwardToKMsg ForwardToSocket ForwardToSyslog
            ForwardToWall LineMax MaxFileSec MaxLevelConsole MaxLevelKMsg MaxLevelSocket
            MaxLevelStore MaxLevelSyslog MaxLevelWall MaxRetentionSec RateLimitBurst
            RateLimitInterval RateLimitIntervalSec ReadKMsg RuntimeKeepFree RuntimeMaxFileSize
            RuntimeMaxFiles RuntimeMaxUse Seal SplitMode Storage SyncIntervalSec SystemKeepFree
            SystemMaxFileSize SystemMaxFiles SystemMaxUse TTYPath
        """
    },
    "logind": {
        "Login": """
            DesignatedMaintenanceTime HandleHibernateKey HandleHibernateKeyLongPress
            HandleLidSwitch HandleLidSwitchDocked HandleLidSwitchExternalPower HandlePowerKey
            HandlePowerKeyLongPress HandleRebootKey HandleRebootKeyLongPress
            HandleSecureAttentionKey HandleSuspendKey HandleSuspendKeyLongPress
            HibernateKeyIgnoreInhibited HoldoffTimeoutSec IdleAction IdleActionSec
            InhibitDelayMaxSec InhibitorsMax KillExcludeUsers KillOnlyUsers KillUserProcesses
            LidSwitchIgnoreInhibited NAutoVTs PowerKeyIgnoreInhibited RebootKeyIgnoreInhibited
            RemoveIPC ReserveVT RuntimeDirectoryInodesMax RuntimeDirectorySize SessionsMax
            SleepOperation StopIdleSessionSec SuspendKeyIgnoreInhibited UserStopDelaySec
            UserTasksMax
        """
    },
    "resolved": {
        "Resolve": """
            Cache CacheFromLocalhost DNS DNSOverTLS DNSSEC DNSStubListener DNSStubListenerExtra
            Domains FallbackDNS LLMNR MulticastDNS ReadEtcHosts RefuseRecordTypes
            ResolveUnicastSingleLabel StaleRetentionSec
        """
    },
    "timesyncd": {
        "Time": """
            ConnectionRetrySec FallbackNTP NTP PollIntervalMaxSec PollIntervalMinSec
            RootDistanceMaxSec SaveIntervalSec Servers
        """
    },
    "networkd": {
        "Network": """
            IPv4Forwarding IPv6Forwarding IPv6PrivacyExtensions ManageForeignNextHops
            ManageForeignRoutes ManageForeignRoutingPolicyRules RouteTable SpeedMeter
            SpeedMeterIntervalSec UseDomains
        """,
        "IPv6AcceptRA": "UseDomains",
        "DHCPv4": "ClientIdentifier DUIDRawData DUIDType UseDomains",
        "DHCPv6": "DUIDRawData DUIDType UseDomains",
        "DHCPServer": "PersistLeases",
        "DHCP": "DUIDRawData DUIDType",
    },
    "system": {"Manager": _MANAGER},
    "user": {"Manager": _MANAGER},
    "sleep": {
        "Sleep": """
            AllowHibernation AllowHybridSleep AllowSuspend AllowSuspendThenHibernate
            HibernateDelaySec HibernateMode HibernateOnACPower HibernateState HybridSleepMode
            HybridSleepState MemorySleepMode SuspendEstimationSec SuspendMode SuspendState
        """
    },
    "coredump": {
        "Coredump": """
            Compress EnterNamespace ExternalSizeMax JournalSizeMax KeepFree MaxUse ProcessSizeMax
            Storage
        """
    },
}
_SHIPPED = ("/etc/systemd/{}.conf", "/usr/lib/systemd/{}.conf", "/usr/local/lib/systemd/{}.conf")


def main_section(daemon: str) -> str:
    """The section of settings that stand in none."""
    return next(iter(SETTINGS[daemon]))


def problems(daemon: str, sections: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """What a daemon does not know, as far as that is certain on any machine."""
    known = SETTINGS[daemon]
    for section, keys in sections.items():
        if section not in known:
            yield _unknown(daemon, f"section [{section}]", section, known)
            continue
        for key in keys:
            if key not in known[section].split():
                what = f"setting {key} in [{section}]"
                yield _unknown(daemon, what, key, known[section].split())


def unknown_here(daemon: str, sections: Mapping[str, Iterable[str]]) -> list[str]:
    """What a daemon does not know on this machine, whose own files may name more."""
    if not (found := [*problems(daemon, sections)]):
        return []
    named = _shipped(daemon)
    rest = {
        section: [key for key in keys if (section, key) not in named]
        for section, keys in sections.items()
        if section in SETTINGS[daemon] or not any(section == of for of, _ in named)
    }
    return [problem for problem in found if problem in {*problems(daemon, rest)}]


def _shipped(daemon: str) -> set[tuple[str, str]]:
    """The sections and settings that the files of a daemon name, those in comments too."""
    found = set()
    for path in (each.format(daemon) for each in _SHIPPED):
        section = ""
        text = file.read_bytes(path).decode(errors="replace") if file.is_file(path) else ""
        for line in text.splitlines():
            if match := re.fullmatch(r"\[(\w+)\]\s*", line):
                section = match[1]
            elif match := re.match(r"#?([A-Z]\w*)=", line):
                found.add((section, match[1]))
    return found


def _unknown(daemon: str, what: str, word: str, known: Iterable[str]) -> str:
    near = closest(word, known)
    if near:
        return f"{daemon} knows no {what}: did you mean {near}?"
    others = [
        other
        for other, sections in SETTINGS.items()
        if word in sections or any(word in keys.split() for keys in sections.values())
    ]
    return f"{daemon} knows no {what}{f': it is one of {others[0]}' if others else ''}"
