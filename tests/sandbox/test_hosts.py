"""Hosts: who may use how many of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ironcurtain.sandbox.process import MOST_HOSTS, MOST_OF_ONE, Host, Hosts

if TYPE_CHECKING:
    from pathlib import Path

LIMITS = {"seconds": 5, "memory": 64 << 20, "recursion": 200, "calls": 10, "output": 1_000}


def test_one_owner_never_has_all_of_them(tmp_path: Path) -> None:
    async def work() -> None:
        hosts = Hosts(tmp_path, LIMITS)
        taken = [await hosts.take("one") for _ in range(MOST_OF_ONE)]
        more = [asyncio.create_task(hosts.take("one")) for _ in range(MOST_HOSTS)]
        other = await asyncio.wait_for(hosts.take("another"), 20)
        assert not any(each.done() for each in more)
        for each in more[1:]:
            each.cancel()  # who leaves takes nobody's place
        await hosts.give_back("one", taken.pop())
        taken.append(await asyncio.wait_for(more[0], 20))
        for owner, host in [("another", other), *(("one", host) for host in taken)]:
            assert isinstance(host, Host)
            await hosts.give_back(owner, host)
        await hosts.close()

    asyncio.run(work())
