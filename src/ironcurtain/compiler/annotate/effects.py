"""What a tool does: read, create, update, delete, move, send, execute, pay, share. From its name, then its words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import first_sentence, lexicon, words_in, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VERBS: Final[dict[str, frozenset[str]]] = {
    "read": lexicon(
        """get list read search find query fetch show describe view look retrieve lookup check browse inspect count
        summarize explain analyze analyse validate compare diff status log history preview scan detect monitor
        watch poll subscribe load open download export tail head cat grep stat info scroll hgetall hget lrange
        smembers zrange exists ping test translate convert extract transcribe screenshot snapshot navigate visit
        wait peek estimate calculate reader observe report suggest recommend identify verify whoami tree discover
        trace dump render"""
    ),
    "create": lexicon(
        """create add new insert make write put save generate draft upload import register build clone copy duplicate
        record schedule start init initialize append push commit store provision open_issue fork spawn launch"""
    ),
    "update": lexicon(
        """update set edit modify change rename patch replace mark complete close reopen archive unarchive star
        unstar toggle enable disable configure adjust move_card assign unassign label untrash trash restore reset
        cancel resolve_issue approve reject merge tag untag link unlink lock unlock pause resume stop snooze pin
        unpin apply format sort fill press type click drag upsert write_range revert rollback switch checkout
        control call turn expire select suspend undo updater acknowledge resolve escalate reassign hset lpush
        rpush sadd zadd incr convert_to"""
    ),
    "delete": lexicon(
        """delete remove drop destroy purge clear erase unlink wipe del rm flush revoke uninstall discard clean hdel
        srem zrem lrem xdel empty terminate kill undeploy"""
    ),
    "move": lexicon("move rename relocate transfer_file reorganize mv"),
    "send": lexicon(
        """send post reply publish forward notify broadcast email message tweet comment announce react respond invite
        submit dm ask_user alert ping_user"""
    ),
    "execute": lexicon(
        """execute run eval evaluate exec invoke trigger deploy install script shell command terminal kubectl debug
        interact spawn start_process force_terminate"""
    ),
    "pay": lexicon(
        """pay buy sell order purchase charge refund trade checkout_cart withdraw deposit invoice_pay exercise"""
    ),
    "share": lexicon("share grant permit publish_link invite presign delegate transfer_ownership expose unshare"),
}
_BY_VERB: Final = {verb: effect for effect in reversed(list(VERBS)) for verb in VERBS[effect]}
"""Where a verb stands under two, the first one listed counts."""
_ORDER: Final = tuple(VERBS)
_PAY_OBJECTS: Final = frozenset({"order", "payment", "trade", "position", "invoice", "transfer"})


def effects_of(name: str, says: str, hints: dict[str, object]) -> tuple[set[str], bool]:
    """The effects of a tool, and whether that is certain."""
    words = words_of(name)
    found = effects_of_words(words)
    sure = bool(found)
    sentence = first_sentence(says)
    listed = _listed(sentence)
    if len(listed) > 1 and (not sure or set(words) & {"manage", "tab"}):
        found, sure = listed, True
    if not found:
        found = _from_sentence(sentence)
    if not found:
        found, sure = {"execute"}, False
    if re.search(r"pre-?signed url|share(?:able)? link|public link|access token", sentence):
        found.add("share")
    if (
        not sure
        and hints.get("destructiveHint") is True
        and hints.get("readOnlyHint") is not True
        and found == {"read"}
    ):
        found.add("update")
    return found, sure


_LIST: Final = re.compile(r"(?:[a-z]+(?:, | ?/ ?)){1,}(?:or |and )?[a-z]+|[a-z]+ (?:or|and) [a-z]+")


def _listed(sentence: str) -> set[str]:
    """The verbs that a sentence lists: `list, create, delete, or rename`."""
    for found in _LIST.finditer(sentence):
        verbs = [word for word in words_in(found.group()) if word in _BY_VERB]
        if len(verbs) > 1:
            return {effect for verb in verbs for effect in effects_of_words((verb,))}
    return set()


def effects_of_words(words: Sequence[str]) -> set[str]:
    """The effects that a name speaks of."""
    positions = [(index, word) for index, word in enumerate(words) if word in _BY_VERB]
    if not positions:
        return set()
    # The first verb that stands where a verb stands: `slack_post_message`, `git_add`, `calendar-list-events`.
    index, verb = next(((i, w) for i, w in positions if w not in _NOUNS or i == 0), positions[0])
    found = {_BY_VERB[verb]}
    rest = set(words[index + 1 :])
    if verb in ("move", "rename"):
        found = {"update"}
    if verb in ("write", "put", "save", "upsert") or (verb == "set" and not rest & {"config", "status", "value"}):
        found = {"create", "update"}
    if verb == "kubectl" and len(positions) > 1:
        return effects_of_words(words[index + 1 :])
    if verb == "import" and rest & {"csv", "sheet", "range"}:
        found = {"create", "update"}
    if verb in ("export", "convert"):
        found = {"read", "create"}
    if verb in ("place", "submit", "create", "buy", "sell") and rest & _PAY_OBJECTS and "pay" not in found:
        found = found | ({"pay"} if rest & {"order", "payment", "trade", "transfer"} else set())
    if verb == "download":
        found = {"read"}
    return found


# Words that are verbs only where nothing else is.
_NOUNS: Final = lexicon(
    """order message comment email log status info history query report script command draft record test label star
    tag link type format view search check summary index head tail tree count post call control sort reply diff
    build"""
)


def _from_sentence(sentence: str) -> set[str]:
    words = words_in(sentence)
    return {_BY_VERB[word] for word in words[:6] if word in _BY_VERB and word not in _NOUNS} or {
        _BY_VERB[word] for word in words[:2] if word in _BY_VERB
    }


def ordered(effects: Iterable[str]) -> list[str]:
    """In the order in which they are written."""
    return sorted(effects, key=_ORDER.index)
