"""Arguments that are known to be harmless: they say how something is done, or what is said of it, not what is touched.

Whatever a call gives that is none of these names what it acts on (`records`). A kind is recognised by the last word of
the name, by a prefix of it, or by how the description begins. A word that is harmless in most calls is not where the
tool is about it, or where the call has to give nothing else.
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
    language lang locale currency unit protocol proto scheme verbosity level severity priority importance status statuse
    state visibility privacy direction orientation layout align alignment position pos placement shape side quality
    resolution precision compression rate tier operator op comparison compare aggregation aggregate statistic
    granularity frequency recurrence rrule cron schedule modality effect easing transition engine platform framework
    browser transport behavior behaviour policy strictness gravity class operation action option opt choice preset
    setting config configuration preference flag switch separator delimiter quote newline disposition acl permission
    right role scope intent purpose timing interval indent wrap case approval tolerance distribution projection crs srid
    rank persistence adjustment location range error encryption signal voice avoid access condition criterion criteria
    capability feature dimension modifier media mimetype mime fstype msgtype architecture arch runtime edition license
    dialect syntax origin enabled formality outcome phase"""
)
"""How something is done, and under which conditions."""
_TIMES: Final = lexicon(
    """date time datetime timestamp day weekday month year hour minute second ms week quarter since until before after
    start end due deadline expiry expiration expire expires ttl duration period timeout delay age window timeframe at on
    asof in byday bymonth bymonthday bysetpos iso timezone tz zone gte lte gt lt min max birthday cutoff epoch latency
    cadence depart departure arrival"""
)
_MEASURES: Final = lexicon(
    """width height depth length size count number limit offset skip total qty quantity percent percentage ratio factor
    scale weight volume speed threshold opacity radius margin padding spacing x y z lat lng lon latitude longitude zoom
    angle rotation index idx row line col step page top bottom left right center rect bbox bound coordinate point pt
    pixel px dpi geometry transform matrix vector horizontal vertical axi axis cap span multiplier score probability
    port bandwidth fps replica concurrency parallelism worker retry attempt ordinal cursor pagination next minimum
    maximum multiple high low temperature seed"""
)
_LOOKS: Final = lexicon(
    """color colour font family icon emoji background foreground border shading gradient theme fill stroke shadow avatar
    cover thumbnail sound animation wallpaper logo marker legend tooltip"""
)
_SEARCHES: Final = lexicon(
    """query q search keyword pattern regex regexp glob filter term grep match contain where wildcard needle phrase jql
    cql formula expression selector xpath exact exclude include prefix suffix like order sort by select column field
    attribute property grouping facet expand"""
)
"""What is looked for, and what is shown of it."""
_SECRETS: Final = lexicon(
    """password passwd passphrase secret token credential pin otp totp apikey auth authorization signature nonce salt
    bearer cookie captcha sshkey"""
)
_VALUES: Final = lexicon(
    """value data payload metadata parameter param variable var env environ header kwarg arg input json xml yaml csv
    body base64 64 byte blob content update patch default history annotation hint extra prop literal string str document
    embedding"""
)
"""What is put in, or handed over."""
_TEXTS: Final = lexicon(
    """text title description desc summary note comment message caption subject heading headline footer excerpt pretext
    fallback bio speech reason memo remark feedback review tagline html markdown md block story intro introduction
    preview question answer reply paragraph sentence alt placeholder greeting narration agenda symptom insight prompt
    instruction explanation justification changelog detail abstract transcript lyric poem letter statement post tweet
    toot spoiler embed button reaction raw blurb label about slogan warning disclaimer plaintext footnote author byline
    ellipsi replacement reproduce information expectation"""
)
"""What is said, in a message, a document or about a record."""
_PERSONAL: Final = lexicon(
    """firstname lastname surname nickname displayname fullname phone mobile fax city country street zip postcode postal
    gender occupation company department office website salutation"""
)
_HOW: Final = _WAYS | _TIMES | _MEASURES | _LOOKS | _SEARCHES | _SECRETS
_WHAT: Final = _VALUES | _TEXTS | _PERSONAL
_PARTS_OF_NAMES: Final = lexicon("first last middle family given full display nick maiden legal friendly pretty short")
_LEADING: Final = lexicon(
    """order group use filter match search new create created update updated modified completed due
    start end"""
)
_PAIRED: Final = lexicon("by on from to in for of after before at since until")
_SWITCHES: Final = lexicon(
    "is has include exclude with show hide no enable disable allow only skip ignore should can max min num sort"
)
"""Whatever follows them is a flag or a limit."""
_SAYS: Final = re.compile(
    r"(?:\(?optional\)?[:.,]? ?|the |an? |new |desired |initial |custom |additional )*"
    r"(?:whether|if true|true|false|when (?:true|set)|number of|count of|max(?:imum)?\b|min(?:imum)?\b|how (?:many|"
    r"much|long|often|to)|formats?\b|type of|sort|order(?:ing)? (?:by|of)|comma-separated list of (?:fields|columns)|"
    r"fields? to (?:return|include)|start (?:date|time)|end (?:date|time)|iso ?-?8601|unix timestamp|dates?\b|times?\b|"
    r"language|locale|colou?rs?\b|"
    r"search (?:query|term|text|string|keyword)|keywords?\b|regex|regular expression|glob|pattern|"
    r"filter (?:by (?:status|type|text|date|state|title)|expression)|passwords?\b|api key|access token|"
    r"your (?:own )?(?:\w+ )?(?:account|address)|page (?:number|size|token)|cursor|duration|timeout|"
    r"interval|time ?zone|percentage|"
    r"(?:\w+ )?(?:format|mode|style|strategy|level|date|time|type|status|colou?r|size)(?= ?[(,.:;]|$))"
)
"""How the description of an argument begins that says how something is done."""
_SAYS_WHAT: Final = re.compile(
    r"(?:\(?optional\)?[:.,]? ?|the |an? |new |desired |initial |custom |additional )*"
    r"(?:titles?\b|descriptions?\b|text\b|contents?\b|body\b|message (?:text|body)|summary)"
)
"""How the description of a text begins."""
_QUOTED: Final = re.compile(r"[\"'`][a-z][a-z_-]*[\"'`]")
_ALSO_RECORDS: Final = lexicon(
    """tag label field column property attribute secret token credential role policy permission feature setting config
    configuration variable template option schedule rule segment annotation block scope class condition header
    environment font index range location context author version topic category view sheet worksheet entry reference
    window section message comment note email post"""
)
"""Harmless in most calls, and what is acted on where the tool is about it: `delete_tag(tag)`."""
_SOMETIMES: Final = lexicon(
    """unit role scope class feature policy config configuration location engine platform browser runtime algorithm
    action schedule framework capability setting permission view device entry reference variable column field property
    context section block template label tag category"""
)
"""Harmless beside what a call acts on, and what it acts on where nothing else has to be given."""
_GIVING: Final = (
    "create", "new", "make", "register", "add", "set", "assign", "apply", "send", "post", "reply", "write",
)  # fmt: skip
"""Verbs of tools that make what they are about, or attach it to something else."""
_THINGS_TOO: Final = lexicon("zone page worker port device window thread block case document")
"""A measure or a way, and a thing where a call has to give it as text: a DNS zone, a page, a serial port."""
_TOKENED: Final = lexicon(
    "folder file doc document sheet spreadsheet app table node wiki space board note block view record base object"
)
"""What some services name by a token, which is no secret."""
_SENDERS: Final = lexicon("from sender")
_ADDRESSED: Final = lexicon("to cc bcc from sender")


def is_acted_on(argument: Argument, tool: Setting) -> bool:
    """Return whether a tool is about what an argument names, and it is there already: `get_secret(secret)`."""
    last = argument.words[-1]
    if argument.free:
        return False
    visited = argument.words == ("page",) and tool.speaks_of("monitor", "scrape", "crawl") and not argument.is_number
    if visited or (last == "method" and "method" in tool.words):  # of the web; of an API, not of a request
        return True
    if last == "token" and argument.words[-2:-1] and argument.words[-2] in _TOKENED:
        return True
    if argument.words[0] in _THINGS_TOO and len(argument.words) == 1 and argument.required and not argument.says:
        return True
    if tool.speaks_of(*_GIVING):
        return False
    if last in _SOMETIMES and _is_alone(argument, tool):
        return True
    return last in _ALSO_RECORDS | _SOMETIMES and last in tool.words and len(argument.words) <= 2


def is_harmless(argument: Argument, tool: Setting) -> bool:
    """Return whether an argument is known to name nothing that a call acts on."""
    words = argument.words
    last = words[-1]
    if is_acted_on(argument, tool):
        return False
    if (last in _ADDRESSED and tool.only_reads) or (last in _SENDERS and tool.subject.is_about("mail", "chat")):
        return True
    return says_how(argument) or is_text(argument) or is_part_of_name(argument) or argument.is_criterion


def is_part_of_name(argument: Argument) -> bool:
    """Return whether an argument is a part of a person's name: `first_name`."""
    return argument.words[-1] == "name" and not _PARTS_OF_NAMES.isdisjoint(argument.words[-2:-1])


def says_how(argument: Argument) -> bool:
    """Return whether an argument says how something is done, when, how much of it, or what is looked for."""
    words = argument.words
    switched = words[0] in _SWITCHES and len(words) > 1
    limited = words[0] in _LEADING and (len(words) == 1 or words[-1] in _PAIRED)
    return switched or limited or words[-1] in _HOW or _SAYS.match(argument.says) is not None


def is_way_or_measure(argument: Argument) -> bool:
    """Return whether an argument is called by a word for how something is done, or for a number of it."""
    return argument.words[-1] in _WAYS | _MEASURES


def lists_choices(argument: Argument) -> bool:
    """Return whether its description says how something is done, or quotes what may be chosen."""
    return len(_QUOTED.findall(argument.says)) > 1 or _SAYS.match(argument.says) is not None


def is_text(argument: Argument) -> bool:
    """Return whether an argument is what is put in, handed over or said: `value`, `body_html`, `note_to_payer`."""
    words = argument.words
    told = words[0] in _TEXTS and words[1:2] in (("to",), ("for",))
    return words[-1] in _WHAT or told or _SAYS_WHAT.match(argument.says) is not None


def _is_alone(argument: Argument, tool: Setting) -> bool:
    """Return whether a call must give this argument and no other text."""
    needed = [other for other in tool.arguments if other.required and not other.is_flag and not other.is_number]
    return [other.leaf for other in needed] == [argument.leaf]
