"""Runs a command as the unit of systemd would: as a user without rights, under the unit's own filter of system calls.

    python3 service-sandbox.py UNIT UID COMMAND [ARGUMENT...]

For machines where systemd does not run as the first process (containers, CI): what the kernel would refuse or kill there, it refuses
or kills here. Needs root to become UID, libseccomp2, and systemd-analyze, which knows the groups of system calls. Of the unit it
takes SystemCallFilter, SystemCallErrorNumber, RestrictAddressFamilies, NoNewPrivileges, LimitNOFILE and UMask; folders, of which the
user may write none but those that the caller gave it, are as they are.
"""

import ctypes
import errno
import os
import resource
import socket
import subprocess
import sys

KILL_PROCESS = 0x80000000
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
UNKNOWN = -1
NO_NEW_PRIVILEGES = 38
EQUAL = 4
FAMILIES = 46
# systemd.exec(5): allowed in every allow-list.
IMPLICIT = ["@default", "execve", "exit", "exit_group", "getrlimit", "rt_sigreturn", "sigreturn"]

seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p
seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
seccomp.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]


class Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


seccomp.seccomp_rule_add_array.argtypes = [
    ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Compare),
]


def settings(unit):
    """Each key of the section [Service] with its values, in order; an empty value takes back those before."""
    found = {}
    section = ""
    with open(unit, encoding="utf8") as lines:
        for line in lines:
            line = line.strip()
            if line.startswith("["):
                section = line
            elif section == "[Service]" and "=" in line and not line.startswith("#"):
                key, value = line.split("=", 1)
                found[key] = [*found.get(key, []), value] if value else []
    return found


def calls_of(name):
    """The system calls of a group, or the one of that name."""
    if not name.startswith("@"):
        return {name}
    text = subprocess.run(
        ["systemd-analyze", "syscall-filter", "--no-pager", name], check=True, capture_output=True, text=True
    ).stdout
    members = [line.strip() for line in text.splitlines()[1:]]
    return set().union(*(calls_of(member) for member in members if member and not member.startswith("#")))


def allowed_calls(filters):
    """As systemd.exec(5) says of several filters: the first one decides that what none allows is denied."""
    if not filters or filters[0].startswith("~"):
        raise SystemExit("the unit is expected to begin with a list of what is allowed")
    allowed = set().union(*(calls_of(name) for name in IMPLICIT))
    for value in filters:
        names = set().union(*(calls_of(name) for name in value.removeprefix("~").split()))
        allowed = allowed - names if value.startswith("~") else allowed | names
    return allowed


def load(default, rules):
    context = seccomp.seccomp_init(default)
    for action, name, compares in rules:
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        # Of other kinds of processors.
        if number == UNKNOWN or number < 0:
            continue
        array = (Compare * len(compares))(*compares)
        failed = seccomp.seccomp_rule_add_array(context, action, number, len(compares), array)
        if failed != 0:
            raise OSError(-failed, f"seccomp rule for {name}")
    failed = seccomp.seccomp_load(context)
    if failed != 0:
        raise OSError(-failed, "seccomp_load")


def main():
    unit, uid, *command = sys.argv[1:]
    service = settings(unit)
    allowed = allowed_calls(service["SystemCallFilter"])
    number = service.get("SystemCallErrorNumber")
    denied = ERRNO | getattr(errno, number[-1]) if number else KILL_PROCESS
    families = {getattr(socket, name) for value in service["RestrictAddressFamilies"] for name in value.split()}
    # Where this container may not raise it, as much as it has.
    limit = min(int(service["LimitNOFILE"][-1]), resource.getrlimit(resource.RLIMIT_NOFILE)[1])

    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.umask(int(service["UMask"][-1], 8))
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    if service["NoNewPrivileges"] != ["yes"] or ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise SystemExit("the unit is expected to refuse new privileges")
    others = [family for family in range(FAMILIES) if family not in families]
    load(ALLOW, [(ERRNO | errno.EAFNOSUPPORT, "socket", [Compare(0, EQUAL, family, 0)]) for family in others])
    load(denied, [(ALLOW, name, []) for name in sorted(allowed)])
    os.execvp(command[0], command)


main()
