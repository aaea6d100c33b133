"""Acts: what the words of a name or of a description may do, as an upper bound.

The vocabulary is finer than that of the annotated effects: `trash` is not `delete`, `upload` is not `create`. A verb
that does several things has all of them. Words that are nouns as often as verbs (`comment`, `order`) count only where
a verb stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ACTS: Final = ("read", "create", "change", "delete", "trash", "move", "send", "share", "upload", "pay", "run")
EVERYTHING: Final = frozenset(ACTS)
NOTHING: Final[frozenset[str]] = frozenset()

_VERBS: Final[dict[str, str]] = {
    "read": """get list read search find query fetch show describe view look retrieve lookup check browse inspect count
        summarize summarise explain analyze analyse validate compare diff status log history preview scan detect
        monitor watch poll load open download tail head cat grep stat info scroll hgetall hget lrange smembers zrange
        exist test translate extract transcribe screenshot snapshot navigate visit wait peek estimate calculate
        compute observe suggest recommend identify verify whoami tree discover trace dump render lint capture
        parse measure profile audit display return provide obtain enumerate examine predict classify crawl
        scrape geocode match probe aggregate resolve quote echo rank diagnose take
        decompile disassemble decode locate""",
    "read send": "report say tell ask ping",
    "read create": "print",
    "read change": "consume receive dequeue",
    "create read": "export convert backup transcode archive_to compress zip unzip unpack decompress",
    "create": """create new overlay make generate draft register copy duplicate record schedule init initialize
        provision fork produce compose define establish compile slice allocate reserve setup prepare""",
    "create change": """add ingest pull insert append write put save store set upsert import commit prepend merge sync
        synchronize lpush rpush sadd zadd xadd hset incr mset setex apply log_time concat annotate resize attach
        bookmark overwrite bump publish_draft seed populate stage embed optimize optimise simplify reconcile""",
    "change": """update edit modify change patch replace mark complete close reopen archive unarchive star unstar toggle
        enable disable configure adjust assign unassign label untrash reset cancel approve reject tag untag
        link lock unlock pause resume stop snooze pin unpin format sort fill press type click drag revert rollback
        switch checkout control turn expire select suspend undo acknowledge resolve escalate reassign persist amend
        rebase cherry squash rotate scale accept decline dismiss mute unmute follow unfollow favorite like unlike vote
        upvote subscribe unsubscribe detach crop trim rewrite override convert_to customize extend refresh
        reorder correct fix adapt swipe tap hover focus transition reschedule postpone activate deactivate resize
        connect disconnect alter unblock block mutate reset strip end release unmerge index handle transition
        highlight protect cordon drain""",
    "change run": "repair login logout authenticate emulate",
    "create change run": "deploy redeploy install upgrade build",
    "delete": """delete remove drop destroy purge clear erase wipe del rm rmdir flush revoke uninstall discard clean
        hdel srem zrem lrem xdel empty truncate prune cleanup undeploy unpublish unregister deregister expunge strip""",
    "change delete": "terminate kill unlink detach_and_delete",
    "trash": "trash bin recycle",
    "move change": "move rename relocate reorganize mv transfer",
    "change create": "restore recover undelete revert clone",
    "send": """send forward notify broadcast email mail announce respond invite dm alert stream text page""",
    "send create": "emit enqueue remind post reply comment tweet toot react message submit publish",
    "send upload change create": "push",
    "upload create": "upload",
    "share": "share grant permit publish invite presign delegate expose unshare revoke authorize entrust",
    "pay": """pay buy sell purchase charge refund trade withdraw donate exercise tip stake payout reimburse deposit
        order""",
    "run": """execute run eval evaluate exec invoke trigger script command shell debug interact call""",
    "run create change": "start restart spawn launch reboot",
    "read create change delete": "manage",
}
_BY_VERB: Final[dict[str, frozenset[str]]] = {}
for _acts, _words in _VERBS.items():
    for _word in _words.split():
        _BY_VERB[_word] = _BY_VERB.get(_word, NOTHING) | frozenset(_acts.split())
_OWN: Final = frozenset(_BY_VERB)
VERBS: Final = _OWN
"""Every verb of an act."""
for _word in _OWN:  # `rerun`, `unsuspend`
    if len(_word) > 2:
        _BY_VERB.setdefault(f"re{_word}", _BY_VERB[_word])
        _BY_VERB.setdefault(f"un{_word}", frozenset({"change"}))

# Words that are verbs only where no other verb is, or where a text uses them as one.
_NOUNS: Final = lexicon(
    """order message comment email mail log status info history query report script command draft record test label star
    tag link type format view search check summary index head tail tree count post call control sort reply diff build
    share charge commit release fork archive copy trade transfer refund schedule store set start watch merge pull push
    upload download import export display text page bin stage block alert shell run quote text match audit profile trace
    dump capture snapshot screenshot archive backup scale focus vote favorite like follow tip stake debug clear empty
    filter stream grant trigger change update patch fix clone bookmark state stop select switch print load cat
    tap hover press fill drop look exercise purchase sync branch measure say tell ask watch trash scan
    review request tweet pin lock visit wait view cherry crop trim preview permit tree monitor probe match
    zip compress composite render tag reader list delegate broadcast override upgrade install deploy transition end
    release index login logout setup handle rank"""
)
_VERBISH: Final = lexicon(
    """update change archive clear copy share start stop merge sync select switch trigger watch follow pin lock set
    patch fix clone upload download import export load run delegate upgrade install deploy release transition drop
    empty trash list"""
)
"""Nouns that are verbs where a name begins with them, whatever follows: `update_list`."""
_LAST: Final = lexicon("list search query count export import upload download status info history stat")
"""What a name ends with that begins with the noun: `record_search`."""
READERS: Final = lexicon("get list search read find fetch describe show count lookup retrieve view")
"""Readers after which the other verbs of a name are no verbs: `get_create_fields`."""
_LOOKING: Final = lexicon("check validate preview simulate explain lint estimate verify test dry")
"""Verbs that look at what another call would do."""
_FORETELLING: Final = lexicon("validate preview simulate explain lint estimate")
_MANAGING: Final = lexicon("manage handle perform do work control operate administer process organize manager")
_SAID: Final = lexicon(
    "comment reply message post tweet toot review reaction email mail sms notification announcement broadcast dm"
)
_NOT_YET_SAID: Final = lexicon(
    """draft template label filter folder rule list group channel category type thread queue schema signature setting
    attachment alias index table stream topic format"""
)
_MAKING: Final = lexicon("create add write make new insert schedule leave submit put compose")
_ACCESS: Final = lexicon("permission access acl collaborator sharing visibility privilege grantee ownership delegate")
_MEMBERS: Final = lexicon("member collaborator user guest people person participant reviewer delegate follower")
_GRANTED: Final = lexicon("user group iam bucket member account principal service")
"""Who or what is given a policy or a role."""
_MONEY: Final = lexicon("order payment charge payout trade transfer refund purchase withdrawal")
_TRAVEL: Final = lexicon("flight hotel car ticket taxi ride trip room")
_MEETINGS: Final = lexicon("event meeting appointment reservation booking invitation subscription")


def verbs() -> Iterable[str]:
    """Return every verb that is known."""
    return _BY_VERB


def is_derived(verb: str) -> bool:
    """Return whether a verb is made of another by a prefix: it may be a name as well."""
    return verb not in _OWN


def is_noun(verb: str) -> bool:
    """Return whether a verb is a noun as often."""
    return verb in _NOUNS


def acts_of_verb(verb: str, nouns: Iterable[str]) -> frozenset[str]:
    """Return what a verb does with the nouns after it."""
    rest = set(nouns)
    return _acts_of_verb(verb, rest, {verb, *rest})


def foretells(words: Sequence[str]) -> bool:
    """Return whether a name says that something is worked out and not done: `preview_write`, `estimate_cost`."""
    positions = verbs_at(words)
    return bool(positions) and words[positions[0]] in _FORETELLING


def looks_only(words: Sequence[str]) -> bool:
    """Return whether a name says that something is only looked at: `check_permission`, `preview_write`."""
    positions = verbs_at(words)
    return bool(positions) and words[positions[0]] in _LOOKING


def is_managing(words: Sequence[str]) -> bool:
    """Return whether a name says no more than that something is worked on: `manage_files`."""
    return not _MANAGING.isdisjoint(words)


def acts_of_words(words: Sequence[str]) -> frozenset[str]:
    """Return the acts of all verbs of a name; empty if it has none that is known."""
    if "place" in words and _MONEY & set(words):
        return frozenset({"pay", "create"})
    if words[-1:] == ("reader",):
        return frozenset({"read"})
    return union(_acts_of_verb(words[index], set(words[index + 1 :]), set(words)) for index in verbs_at(words))


def verbs_at(words: Sequence[str]) -> list[int]:
    """Return the positions in a name where a verb stands."""
    sure = [index for index, word in enumerate(words) if word in _BY_VERB and word not in _NOUNS]
    loose = [index for index, word in enumerate(words) if word in _BY_VERB and word in _NOUNS]
    if any(words[index] in _LOOKING for index in sorted([*sure, *loose])[:1]):
        return sorted([*sure, *loose])[:1]
    chosen = sorted([*sure, *(index for index in loose if _stands_as_verb(words, index, sure))])
    chosen = chosen or (loose[-1:] if words and words[-1] in _LAST else loose[:1])
    if chosen and words[chosen[0]] in READERS:
        return [index for index in chosen if index == chosen[0] or _is_joined(words, index) or words[index] == "write"]
    return chosen


def is_afterthought(words: Sequence[str]) -> bool:
    """Return whether the only verb of a name is its last word and as often a noun: `console_messages`."""
    return verbs_at(words) == [len(words) - 1] and len(words) > 1 and words[-1] in _NOUNS


def _is_joined(words: Sequence[str], index: int) -> bool:
    return index > 0 and words[index - 1] in ("and", "or", "then")


def _stands_as_verb(words: Sequence[str], index: int, sure: Sequence[int]) -> bool:
    """`search_and_replace`, `post_message`, but not `message_delete` or `get_comment`."""
    first = all(other > index for other in sure) and not any(word in _NOUNS for word in words[:index])
    noun_first = any(other in (index + 1, len(words) - 1) for other in sure) and words[index] not in _VERBISH
    noun_first = noun_first or (words[-1] in _LAST and index < len(words) - 1 and words[index] not in _VERBISH)
    joins = index + 1 < len(words) and words[index + 1] in ("and", "or", "then")
    return _is_joined(words, index) or (first and (joins or not noun_first))


def _acts_of_verb(verb: str, rest: set[str], words: set[str]) -> frozenset[str]:
    """Return what a verb does with the nouns after it."""
    found = set(_BY_VERB[verb])
    queued = verb in ("produce", "push", "put") and rest & {"message", "event"}
    if queued or (verb in _MAKING and rest & _SAID and not words & _NOT_YET_SAID):
        found = {"create", "send", *(found if queued else ())}
    if found != {"read"} and words & _ACCESS and "data" not in words:
        found.add("share")
    granted = {"policy", "role"} & rest and (rest & _GRANTED or verb in ("assign", "attach", "bind"))
    if found != {"read"} and granted:
        found.add("share")
    if verb in ("add", "invite", "remove") and rest & _MEMBERS:
        found.add("share")
    if (
        verb in ("place", "submit", "create", "make", "issue", "new")
        and rest & _MONEY
        and not words & {"draft", "pull"}
    ):
        found.add("pay")
    if verb == "open" and rest & {"issue", "ticket", "pull", "pr", "request"}:
        found.add("create")
    if verb == "make" and rest & {"edit", "change", "modification", "call", "request", "sure"}:
        return frozenset({"change"} if rest & {"edit", "change", "modification"} else {"run"})
    if verb == "cancel" and words & _MEETINGS:
        found.add("delete")
    if verb == "publish" and (not rest or rest & {"message", "event", "payload"}):
        found.discard("share")
    if verb in ("move", "put") and words & {"trash", "bin"}:
        return frozenset({"trash"})
    if verb == "resolve" and rest & {"path", "id", "name", "library", "url", "host", "symbol", "address", "reference"}:
        return frozenset({"read"})
    if verb == "untrash":
        return frozenset({"change"})
    return frozenset(found)


def union(found: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the union of sets of acts."""
    return frozenset(act for acts in found for act in acts)
