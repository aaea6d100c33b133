"""The system calls that a walled process may make, by their numbers on this machine."""

from __future__ import annotations

import platform
from typing import Final

_X86_64: Final = """
    read 0 write 1 close 3 fstat 5 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12 rt_sigaction 13 rt_sigprocmask
    14 rt_sigreturn 15 pread64 17 access 21 pipe 22 sched_yield 24 mremap 25 madvise 28 dup 32 dup2 33 nanosleep 35
    getpid 39 sendto 44 recvfrom 45 socketpair 53 clone 56 vfork 58 execve 59 exit 60 wait4 61 kill 62 uname 63
    fcntl 72 getcwd 79 readlink 89 getuid 102 getgid 104 geteuid 107 getegid 108 getppid 110 sigaltstack 131
    sched_getparam 143 sched_getscheduler 145 prctl
    157 arch_prctl 158 gettid 186 futex 202 sched_getaffinity 204 epoll_create 213 getdents64 217 set_tid_address
    218 restart_syscall 219 clock_gettime 228 clock_getres 229 clock_nanosleep 230 exit_group 231 epoll_wait 232
    epoll_ctl 233 tgkill 234 waitid 247 openat 257 newfstatat 262 readlinkat 267 faccessat 269 ppoll 271
    set_robust_list 273 epoll_pwait 281 eventfd2 290 epoll_create1 291 dup3 292 pipe2 293 prlimit64 302 getrandom
    318 membarrier 324 statx 332 rseq 334 pidfd_send_signal 424 pidfd_open 434 clone3 435 close_range 436 faccessat2
    439 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
"""
_AARCH64: Final = """
    epoll_create1 20 epoll_ctl 21 epoll_pwait 22 dup 23 dup3 24 fcntl 25 eventfd2 19 getcwd 17 faccessat 48 openat
    56 close 57 pipe2 59 getdents64 61 lseek 62 read 63 write 64 pread64 67 ppoll 73 readlinkat 78 newfstatat 79
    fstat 80 exit 93 exit_group 94 waitid 95 set_tid_address 96 futex 98 set_robust_list 99 nanosleep 101
    clock_gettime 113 clock_getres 114 clock_nanosleep 115 sched_getscheduler 120 sched_getparam 121
    sched_getaffinity 123 sched_yield 124 restart_syscall 128
    kill 129 tgkill 131 socketpair 199 sendto 206 recvfrom 207 sigaltstack 132 rt_sigaction 134 rt_sigprocmask 135
    rt_sigreturn 139 uname 160 prctl 167 getpid 172 getppid 173 getuid 174 geteuid 175 getgid 176 getegid 177 gettid
    178 brk 214 munmap 215 mremap 216 clone 220 execve 221 mmap 222 mprotect 226 madvise 233 wait4 260 prlimit64 261
    getrandom 278 membarrier 283 statx 291 rseq 293 pidfd_send_signal 424 pidfd_open 434 clone3 435 close_range 436
    faccessat2 439 landlock_create_ruleset 444 landlock_add_rule 445 landlock_restrict_self 446
"""
_MACHINES: Final = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
"""What the kernel calls each, and its table."""

_RUNNING: Final = """
    read write close fstat poll ppoll lseek mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn
    pread64 access faccessat sched_yield mremap madvise dup2 dup3 nanosleep getpid exit uname sigaltstack
    arch_prctl gettid futex sched_getaffinity set_tid_address restart_syscall clock_gettime clock_getres
    clock_nanosleep exit_group openat newfstatat set_robust_list getrandom membarrier statx rseq execve
"""
"""Of a program that computes, reads and writes what is open, and has threads. It becomes that program by `execve`."""
_STARTING: Final = """
    pipe pipe2 dup vfork wait4 waitid kill getcwd readlink readlinkat getuid getgid geteuid getegid getppid
    epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 getdents64 pidfd_send_signal pidfd_open
    close_range faccessat2 landlock_create_ruleset landlock_add_rule landlock_restrict_self socketpair sendto
    recvfrom
"""
"""Of a program that starts another, and has a pair of sockets between its own threads; none of them leads out."""


_WAITING: Final = (
    "epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 socketpair getcwd sched_getparam sched_getscheduler"
)
"""Of a program that waits for several things at once, all of them its own."""


def machine() -> tuple[int, dict[str, int]] | None:
    """How the kernel calls this machine, and its numbers; nothing for a machine that we have no table of."""
    found = _MACHINES.get(platform.machine())
    if found is None:
        return None
    code, table = found
    words = table.split()
    return code, {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


def allowed(*, starts: bool, waits: bool) -> frozenset[str]:
    """The calls that are made as they are; some more are looked at closely."""
    more = (_STARTING if starts else "") + (_WAITING if waits else "")
    return frozenset(_RUNNING.split()) | frozenset(more.split())
