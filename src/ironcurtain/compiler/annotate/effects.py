"""What a tool does: read, create, update, delete, move, send, execute, pay, share. From its name, then its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.acts import is_afterthought, is_noun, looks_only, verbs_at
from ironcurtain.compiler.annotate.prose import leading_verbs
from ironcurtain.compiler.annotate.text import first_sentence, lexicon, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERBS: Final[dict[str, frozenset[str]]] = {
    "read": lexicon(
        """get list read search find query fetch show describe view look retrieve lookup check browse inspect count
        summarize summarise explain analyze analyse validate compare diff status log history preview scan detect monitor
        watch poll subscribe load open download export tail head cat grep stat info scroll hgetall hget lrange
        smembers zrange exist ping test translate convert extract transcribe screenshot snapshot navigate visit
        wait peek estimate rank diagnose calculate reader observe report suggest recommend identify verify whoami tree
        discover
        trace dump lint capture parse measure profile audit display print return provide obtain enumerate
        examine predict classify crawl scrape geocode match probe aggregate quote echo say tell compute take
        consume receive dequeue decompile disassemble decode locate"""
    ),
    "create": lexicon(
        """create add new insert make write put save generate draft upload import register build clone copy duplicate
        record schedule start init initialize append push commit store provision fork spawn launch compose
        define produce concat slice render compress zip unpack unzip decompress backup attach annotate overlay transcode
        establish compile embed ingest bookmark log_time seed populate"""
    ),
    "update": lexicon(
        """update pull set edit modify change move rename patch replace mark complete close reopen archive unarchive
        star unstar toggle enable disable configure adjust assign unassign label untrash trash restore reset
        cancel approve reject merge tag untag link lock unlock pause resume stop snooze pin
        unpin apply format sort fill press type click drag upsert revert rollback switch checkout
        control turn expire select suspend undo updater acknowledge resolve escalate reassign hset lpush
        rpush sadd zadd incr transition resize customize protect unprotect highlight rotate scale crop trim amend
        rebase cherry stage unstage accept decline dismiss mute unmute follow unfollow favorite like vote upvote
        unsubscribe detach reorder reschedule postpone activate deactivate alter block unblock hover tap swipe
        focus connect disconnect sync synchronize extend refresh correct fix overwrite rewrite strip manage handle
        merge prepend mset setex cordon uncordon drain end release unmerge repair login logout authenticate
        emulate setup"""
    ),
    "delete": lexicon(
        """delete remove drop destroy purge clear erase unlink wipe del rm flush revoke uninstall discard clean hdel
        srem zrem lrem xdel empty terminate kill undeploy cleanup prune truncate expunge unregister deregister rmdir
        unpublish"""
    ),
    "move": lexicon("relocate reorganize mv"),
    "send": lexicon(
        """send post reply publish forward notify broadcast email message tweet comment announce react respond invite
        submit dm alert stream mail emit enqueue remind"""
    ),
    "execute": lexicon(
        """execute run eval evaluate exec invoke trigger deploy install script shell command terminal debug call
        interact spawn restart reboot upgrade redeploy"""
    ),
    "pay": lexicon(
        """pay buy sell order purchase charge refund trade withdraw deposit exercise payout donate tip stake"""
    ),
    "share": lexicon("share grant permit invite presign delegate expose unshare authorize"),
}
_BY_VERB: Final = {verb: effect for effect in reversed(list(VERBS)) for verb in VERBS[effect]}
"""Where a verb stands under two, the first one listed counts."""
_ORDER: Final = tuple(VERBS)
_PAY_OBJECTS: Final = frozenset({"order", "payment", "trade", "transfer", "payout", "refund", "charge"})
_ACCESS: Final = lexicon(
    "permission access acl collaborator sharing restriction visibility privilege ownership delegate"
)
_MEMBERS: Final = lexicon("member collaborator guest people participant delegate")
_CONSEQUENCES: Final = frozenset({"delete", "send", "pay"})
"""Effects that a description may add to those of the name."""
_ENTRIES: Final = lexicon(
    "key variable secret string hash env entry vector alias rule policy permission var reminder cell range json"
)
"""What is made where it is set and not yet there."""
_ATTACHED: Final = lexicon("flag label tag")
"""What is added to a record and taken from it, and thereby changes it."""
_PARTIAL: Final = lexicon("remove clear drop clean empty strip")
"""Verbs that often take away only a part: `adds or removes labels`."""
_MANAGING: Final = frozenset({"manage", "handle"})


def effects_of(name: str, says: str, hints: dict[str, object]) -> tuple[set[str], bool]:
    """Return the effects of a tool, and whether that is certain."""
    words = words_of(name)
    found = effects_of_words(words)
    spoken = leading_verbs(says)
    told = _union(_effects_of_verb(verb, set(nouns), {verb, *nouns}) for verb, nouns in spoken)
    sure = bool(found)
    if told and (not found or is_afterthought(words) or _MANAGING & set(words)):
        found, sure = told, True
    elif told and _is_weak(words) and found == {"send"} and "execute" in told:
        found = told | (found & _CONSEQUENCES)
    elif found <= {"read"} and _is_weak(words) and words[-1:] != ("reader",):
        found |= told - {"read"}
    elif found != {"read"}:
        strong = ((verb, nouns) for verb, nouns in spoken if verb not in _PARTIAL)
        found |= _CONSEQUENCES & _union(_effects_of_verb(verb, set(nouns), {verb, *nouns}) for verb, nouns in strong)
    if not found:
        found, sure = {"execute"}, False
    if re.search(r"pre-?signed url|share(?:able)? link|public link|access token", first_sentence(says)):
        found.add("share")
    if found <= {"read"} and re.match(r"(?:loads?|imports?|reads?|pulls?) .{0,60}\binto\b", first_sentence(says)):
        found.add("update")
    destructive = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    if not sure and destructive and found == {"read"}:
        found.add("update")
    return found, sure


def _union(found: Iterable[set[str]]) -> set[str]:
    return {effect for effects in found for effect in effects}


def _is_weak(words: Sequence[str]) -> bool:
    """Return whether all verbs of a name are as often nouns."""
    positions = verbs_at(words)
    return bool(positions) and not looks_only(words) and all(is_noun(words[index]) for index in positions)


def effects_of_words(words: Sequence[str]) -> set[str]:
    """Return the effects that a name speaks of."""
    if words[-1:] == ("reader",):
        return {"read"}
    positions = verbs_at(words)
    if {"place", "submit"} & set(words) and {"order", "trade"} & set(words):
        return {"pay"} if "place" in words else {"send", "pay"}
    if not positions:
        return set()
    found: set[str] = set()
    first = positions[0]
    for index in positions:
        joined = index > 0 and words[index - 1] in ("and", "or", "then")
        if index == first or joined:
            found |= _effects_of_verb(words[index], set(words[index + 1 :]), set(words))
    return found


def _effects_of_verb(verb: str, rest: set[str], words: set[str]) -> set[str]:
    """Return what a verb does with the nouns after it."""
    effect = _BY_VERB.get(verb) or _BY_VERB.get(verb.removeprefix("re"))
    if effect is None and verb.startswith("un"):
        effect = "update"
    if effect is None:
        return set()
    found = _by_object(verb, rest, words) or {effect}
    if (
        verb in ("submit", "create", "buy", "sell")
        and rest & _PAY_OBJECTS
        and not words & {"draft", "pull", "merge", "link"}
    ):
        found |= {"pay"} if rest & _PAY_OBJECTS else set()
    if found != {"read"} and words & _ACCESS and "data" not in words:
        found |= {"share"}
    if verb in ("add", "invite") and rest & _MEMBERS:
        found = {"share"}
    return found


def _by_object(verb: str, rest: set[str], words: set[str]) -> set[str]:
    """Return what a verb does with just these nouns, where that is not what it does with others."""
    if verb in ("produce", "push", "put", "enqueue") and rest & {"message", "event"} and "get" not in words:
        return {"send"}
    if verb == "create" and "message" in rest and rest & {"private", "direct", "group", "chat", "channel", "text"}:
        return {"create", "send"}
    if verb in ("write", "put", "upsert") or (verb == "set" and (not rest or rest & _ENTRIES)):
        return {"create", "update"}
    if verb in ("move", "rename", "set") or (verb in ("add", "remove") and rest & _ATTACHED):
        return {"update"}
    requested = verb in ("send", "make") and rest & {"command", "request"} and not rest & {"pull", "merge", "message"}
    called = verb == "make" and "call" in rest and not rest & {"phone", "voice"}
    if requested or called or (verb == "forward" and "port" in words) or (verb == "start" and not rest):
        return {"execute"}
    if verb == "resolve" and rest & {"path", "id", "name", "library", "url", "host", "symbol", "address", "reference"}:
        return {"read"}
    if verb == "import" and rest & {"csv", "sheet", "range"}:
        return {"create", "update"}
    return {"read", "create"} if verb in ("export", "convert") else set()


def ordered(effects: Iterable[str]) -> list[str]:
    """Return effects in the order in which they are written."""
    return sorted(effects, key=_ORDER.index)
