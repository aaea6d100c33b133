"""Arguments that are known to be harmless: they say how something is done, or what is said of it, not what is touched.

Whatever a call gives that is none of these names what it acts on (`records`). A kind is recognised by the last word of
the name, by a prefix of it, or by how the description begins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.text import lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_WAYS: Final = lexicon(
    """type subtype kind mode qmode qtype format fmt style method strategy algorithm encoding charset codec bitrate
    language lang locale currency unit protocol scheme verbosity level severity priority importance status statuse
    state visibility privacy direction orientation layout align alignment position pos placement shape side quality
    resolution precision compression rate tier operator op comparison compare aggregation aggregate statistic
    granularity frequency recurrence rrule cron schedule modality effect easing transition engine platform framework
    browser transport behavior behaviour policy strictness gravity class operation action option opt choice preset
    setting config configuration preference flag switch separator delimiter quote newline disposition acl permission
    right role scope intent purpose timing interval indent wrap case approval strictness tolerance distribution
    projection crs srid rank persistence adjustment location locale_code range error encryption proto signal voice avoid access condition criterion criteria capability feature dimension
    modifier media mimetype mime fstype msgtype architecture arch runtime edition license dialect syntax"""
)
"""How something is done."""
_TIMES: Final = lexicon(
    """date time datetime timestamp day weekday month year hour minute second ms week quarter since until before after
    start end due deadline expiry expiration expire expires ttl duration period timeout delay age window timeframe at on
    asof in byday bymonth bymonthday bysetpos iso timezone tz zone gte lte gt lt min max from_date to_date birthday cutoff epoch latency cadence"""
)
_MEASURES: Final = lexicon(
    """width height depth length size count number limit offset skip total qty quantity percent percentage ratio factor
    scale weight volume speed threshold opacity radius margin padding spacing x y z lat lng lon latitude longitude zoom
    angle rotation index idx row line col step page top bottom left right center rect bbox bound coordinate point pt
    pixel px dpi geometry transform matrix vector horizontal vertical axi axis cap span multiplier score probability
    port bandwidth fps replicas replica concurrency parallelism worker thread_count retry retries attempt budget_ms
    enabled origin relative ordinal cursor pagination next minimum maximum multiple high low temperature seed"""
)
_LOOKS: Final = lexicon(
    """color colour font family icon emoji background foreground border shading gradient theme fill stroke shadow
    avatar cover thumbnail sound animation wallpaper logo marker legend tooltip"""
)
_SEARCHES: Final = lexicon(
    """query q search keyword pattern regex regexp glob filter term grep match contain where wildcard needle phrase
    jql cql formula expression selector xpath exact exclude include prefix suffix like order sort by select column
    field attribute property projection grouping facet expand fields_to_return"""
)
_SECRETS: Final = lexicon(
    """password passwd passphrase secret token credential pin otp totp apikey auth authorization signature nonce salt
    bearer cookie captcha sshkey"""
)
_VALUES: Final = lexicon(
    """value data payload metadata parameter param variable var env environ header kwarg arg input json xml yaml csv
    body base64 64 byte blob content update patch default history annotation hint context_data extra attribute
    property prop literal literals string str document row record_data point vector embedding entry_data"""
)
"""What is put in, or handed over."""
TEXTS: Final = lexicon(
    """text title description desc summary note comment message caption subject heading headline header footer excerpt
    pretext fallback bio speech status reason memo remark feedback review tagline signature html markdown md block
    payload story intro introduction preview line question answer reply body content paragraph sentence quote alt
    placeholder greeting template_data narration agenda symptom insight prompt instruction purpose explanation
    justification changelog details detail abstract transcript lyric poem letter statement post tweet toot spoiler
    plaintext footnote author byline ellipsi embed button choice option reaction raw value blurb button label about cta slogan warning disclaimer"""
)
"""What is said, in a message, a document or about a record."""
_PERSONAL: Final = lexicon(
    """firstname lastname surname nickname displayname fullname phone mobile fax city country street zip postcode
    postal region_name state_name gender age occupation job_title company department office website salutation"""
)
_ABOUT_PEOPLE: Final = lexicon("first last middle family given full display nick maiden legal friendly pretty short")
_PREFIXES: Final = lexicon(
    """is has include exclude with show hide max min num no sort order group enable disable allow use only skip ignore
    should can filter match search new create created update updated modified completed due start end"""
)
_SWITCHES: Final = lexicon("is has include exclude with show hide no enable disable allow only skip ignore should can")
_PAIRED: Final = lexicon("after before at since until by on from to in for of time date gte lte order")
_SAYS: Final = re.compile(
    r"(?:\(?optional\)?[:.,]? ?|the |an? |new |desired |initial |custom |additional )*"
    r"(?:whether|if true|true|false|when (?:true|set)|number of|count of|max(?:imum)?\b|min(?:imum)?\b|how (?:many|much|"
    r"long|often|to)|formats?\b|type of|sort|order(?:ing)? (?:by|of)|comma-separated list of (?:fields|columns)|"
    r"fields? to (?:return|include)|start (?:date|time)|end (?:date|time)|iso ?-?8601|unix timestamp|dates?\b|times?\b|"
    r"language|locale|colou?rs?\b|titles?\b|descriptions?\b|text\b|contents?\b|body\b|message (?:text|body)|summary|"
    r"search (?:query|term|text|string|keyword)|keywords?\b|regex|regular expression|glob|pattern|"
    r"filter (?:by (?!id)(?:status|type|text|date|state|title)|expression)|passwords?\b|api key|access token|"
    r"page (?:number|size|token)|cursor|duration|timeout|interval|time ?zone|percentage|"
    r"(?:\w+ )?(?:format|mode|style|strategy|level|date|time|type|status|colou?r|size)\b(?! (?:of|for) the)(?= ?[(,.:;]|$))"
)
"""How the description of a harmless argument begins."""


_ALSO_RECORDS: Final = lexicon(
    """tag label field column property attribute secret token credential role policy permission feature setting config
    configuration variable template option schedule rule segment annotation block scope class condition header
    environment font index range location context author version topic category view sheet worksheet entry reference
    window section status_page message comment note email post"""
)
"""Harmless in most calls, and what is acted on where the tool is about them: `delete_tag(tag)`."""
_SOMETIMES: Final = lexicon(
    """unit role scope class feature policy config configuration location engine platform browser runtime algorithm
    action schedule framework capability setting permission view device entry reference variable column field property
    context section block template label tag category"""
)
"""Harmless beside what a call acts on; where nothing else is required, it is what the call acts on."""
_GIVING: Final = (
    "create",
    "new",
    "make",
    "register",
    "add",
    "set",
    "assign",
    "apply",
    "send",
    "post",
    "reply",
    "write",
)
"""Verbs of tools that make what they are about, or attach it to something else."""
_ADDRESSED: Final = lexicon("to cc bcc from")


def is_acted_on(argument: Argument, tool: Setting) -> bool:
    """Return whether a tool is about what an argument names, and it is there already: `get_secret(secret)`."""
    last = argument.words[-1]
    if last in _SOMETIMES and _is_alone(argument, tool):
        return True
    about = last in _ALSO_RECORDS and last in tool.words and len(argument.words) <= 2
    return about and not tool.speaks_of(*_GIVING) and not argument.free


def is_text(argument: Argument) -> bool:
    """Return whether an argument is text that is said, by its name."""
    return bool(argument.words) and argument.words[-1] in TEXTS


def is_harmless(argument: Argument, tool: Setting) -> bool:
    """Return whether an argument is known to name nothing that a call acts on."""
    words = argument.words
    last = words[-1]
    if is_acted_on(argument, tool):
        return False
    if last in _ADDRESSED and tool.only_reads:
        return True
    if last in _PERSONAL or (last == "name" and len(words) > 1 and words[-2] in _ABOUT_PEOPLE):
        return True
    if words[0] in _PREFIXES and (len(words) == 1 or last in _PAIRED | _TIMES | _MEASURES | _SEARCHES | _WAYS):
        return True
    if words[0] in _SWITCHES and len(words) > 1:
        return True
    if any(last in group for group in (_WAYS, _TIMES, _MEASURES, _LOOKS, _SEARCHES, _SECRETS, _VALUES, TEXTS)):
        return True
    return argument.is_criterion or _SAYS.match(argument.says) is not None


def _is_alone(argument: Argument, tool: Setting) -> bool:
    """Return whether a call must give this argument and no other text."""
    needed = [other for other in tool.arguments if other.required and not other.is_flag and not other.is_number]
    return [other.leaf for other in needed] == [argument.leaf] and not argument.free and not tool.speaks_of(*_GIVING)
