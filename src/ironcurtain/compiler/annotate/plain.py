"""Arguments that mean nothing to a policy, and sums of money."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.addresses import speaks_of_address
from ironcurtain.compiler.annotate.files import speaks_of_path
from ironcurtain.compiler.annotate.harmless import is_acted_on
from ironcurtain.compiler.annotate.records import is_numbered, names_a_record
from ironcurtain.compiler.annotate.setting import NOTHING, Meaning, meaning
from ironcurtain.compiler.annotate.text import lexicon, words_of

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_AMOUNTS: Final = lexicon(
    """amount price budget cost sum total fee payment salary notional balance spend charge discount principal deposit"""
)
_COUNTS: Final = lexicon(
    """count max min limit page offset token per number result item width height line length size timeout retry id
    index second ms minute hour byte char character depth step attempt"""
)
_RATED: Final = lexicon(
    "hourly daily weekly monthly fixed flat hour day wage pay billing billable labor labour internal"
)
"""What a rate is of that is a sum of money, and no speed or share."""
_COIN: Final = re.compile(r"\b(?:wei|eth|ether|btc|lamports?|satoshis?|coins?|amount)\b")
_RATE: Final = re.compile(r"\bper (?:hour|day|week|month|unit|item)\b|\b(?:hourly|daily|fixed|billing|billable) rate\b")
_AN_ID: Final = re.compile(r"\bids?\b|_\.\.\.|\bidentifier\b")
_TOKEN_OF: Final = re.compile(
    r"(?:the )?token (?:of|for) (?:the |a )(?:file|document|folder|page|record|table|message)"
)
_SETTINGS: Final = lexicon(
    """limit offset page cursor per_page page_size page_token start_cursor next_token skip max_results order sort
    order_by sort_by direction format encoding timezone language locale currency unit verbosity depth mode
    strategy style color theme font password passphrase secret token api_key apikey access_token timeout retries
    interval since until before after fields columns view expand include exclude visibility priority status state
    type kind category severity level width height size quality scale position start end date time datetime due
    duration period granularity frequency year month day hour minute"""
)


def sum_of_money(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the role of a price or a budget."""
    words = argument.words
    last = words[-1] if words else ""
    named = last in _AMOUNTS or (argument.is_number and set(words) & _AMOUNTS and not set(words) & _COUNTS)
    rated = last == "rate" and (not _RATED.isdisjoint(words[:-1]) or _RATE.search(argument.says) is not None)
    named = named or (argument.is_number and (rated or ("bid" in words and last != "id")))
    named = named or (last == "value" and _COIN.search(argument.says) is not None)
    priced = bool(argument.above) and not _AMOUNTS.isdisjoint(words_of(argument.above[-1]))
    if last == "value" and priced and not argument.enum:  # `amount.value`
        return meaning("amount")
    if not named or argument.is_flag or argument.enum or (not argument.is_number and _AN_ID.search(argument.says)):
        return None
    return meaning("amount") if argument.is_number or words == ("amount",) or tool.subject.is_about("money") else None


def number_or_flag(argument: Argument, tool: Setting) -> Meaning | None:
    """Return that a number or a flag has no role."""
    if argument.is_flag:
        return NOTHING
    return NOTHING if argument.is_number and not names_a_record(argument) and not is_numbered(argument, tool) else None


def choice(argument: Argument, _: Setting) -> Meaning | None:
    """Return that one of a few words, such as a mode, has no role."""
    return NOTHING if len(argument.enum) > 1 else None


def setting(argument: Argument, tool: Setting) -> Meaning | None:
    """Return that how something is done, or how much of it is shown, has no role."""
    if argument.words == ("token",) and _TOKEN_OF.match(argument.says):
        return meaning("identifier")
    if is_acted_on(argument, tool):
        return None
    if "_".join(argument.words) not in _SETTINGS or speaks_of_path(argument) or speaks_of_address(argument):
        return None
    return NOTHING if tool.only_reads or not tool.speaks_of(*argument.words) else None
