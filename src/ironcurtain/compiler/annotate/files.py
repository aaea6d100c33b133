"""Files: which arguments are paths on this machine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ironcurtain.compiler.annotate.paths import CAPTURING, DESTINATION, ENDS, NAMES, is_auxiliary, path_roles
from ironcurtain.compiler.annotate.relative import is_root, named_inside, root_of
from ironcurtain.compiler.annotate.setting import NO_WORD_KNOWN, Meaning, meaning
from ironcurtain.compiler.annotate.text import first_sentence, is_named_by_id, lexicon

if TYPE_CHECKING:
    from ironcurtain.compiler.annotate.arguments import Argument
    from ironcurtain.compiler.annotate.setting import Setting

_KINDS: Final = lexicon(
    """archive zip tarball video audio image picture photo subtitle document pdf spreadsheet presentation playbook
    inventory font certificate cert mbox overlay mesh model input output src dst out base attach clip movie track
    workbook notebook dockerfile manifest kubeconfig firmware"""
)
"""What is a file where a server works on files: by its kind."""
_WORK_ON_FILES: Final = lexicon(
    """zip unzip archive compress decompress extract tar gzip ffmpeg video audio image photo pdf latex transcode
    resize crop annotate composite concat watermark thumbnail subtitle mbox maildir stl gcode blend svg ocr
    playbook inventory convert render frame flash wallpaper"""
)
_MAKING_FILES: Final = (
    "export", "save", "dump", "render", "record", "capture", "convert", "download", "screenshot", "pdf", "print",
    "slice", "transcode", "compile", "report", "fetch",
)  # fmt: skip
_EXTENSION: Final = re.compile(r"(?<![\w.])\.[a-z0-9]{2,5}\b|\bfiles?\b")
_TERSE: Final = lexicon(
    """output input video audio image clip pdf archive zip playbook dest src dst picture photo movie workbook source
    destination document dockerfile tsconfig dotenv tfvars executable original"""
)
"""What is a file of such a server even where nothing is said of it."""
_MEDIA: Final = re.compile(r"\b(?:source|input|output|local|media) (?:video|audio|image|clip|media|document|file)")
_NOT_A_PATH: Final = lexicon(
    """id type name extension pattern format size count content text url uri prefix suffix glob mode encoding key
    title hash line index token version info status filter date time owner permission uid uuid guid sid gid slug ref
    handle"""
)
_FILE_NAMES: Final = lexicon("document image workbook presentation script video audio picture pdf notebook")
"""What has a name that may be a path, of a server that works on files: `workbook_name`."""
_MOVED: Final = lexicon("file directory folder path workbook document image dir notebook")
_CARRYING: Final = ("copy", "move", "link", "symlink", "sync", "mirror", "rsync")
_CARRIED: Final = re.compile(r"\b(?:files?|folders?|director(?:y|ies)|symlinks?)\b")
"""What has a source and a destination that are paths."""
_SPOKEN: Final = re.compile(
    r"\b(?:file ?paths?|paths? (?:to|of|where|for|on|in|from|under|relative)|absolute paths?|directory|directories|"
    r"folder to|local file|file to|files? on disk|relative path|output file|input file|local path|filesystem path|"
    r"working dir|path)\b"
)
_BEGINS: Final = re.compile(
    r"(?:\(?optional\)?[:,]? )?(?:the |a |an |full |absolute |relative |optional |local |target |list of |array of |"
    r"output |input |comma-separated |json |string |or )*"
    r"(?:file ?|filter |script )?(?:paths?|director(?:y|ies)|folders?)\b"
    r"|.{0,30}\blocal file ?names?\b|.{0,50}\b(?:file|filter|script|local|absolute|relative|file ?system) paths?\b"
    r"|(?:the )?file ?names? to (?:save|write|load|read)|(?:save|write) .{0,40} to (?:an? |this )?file\b"
    r"|load .{0,40} from (?:the |an? )?(?:specified |given )?file\b|.{0,30}\bor path to\b"
    r"|(?:the |a |local |one or more |array of |list of )*files? to (?:read|open|upload|attach|parse|import|process|"
    r"analy[sz]e|convert|edit|write|"
    r"create)"
    r"|(?!active)(?:[\w-]+ ){1,3}(?:director(?:y|ies)|file ?paths?|filesystem paths?)"
    r"(?=[.,;:(]|$| (?:that|which|where|to|for|in|containing)\b)"
    r"|(?!active|url|api|json|key|route|field|object)(?:[\w-]+ ){1,2}paths?(?= ?[.,;:(]|$)"
    r"|(?:the |a |list of )*(?:image|audio|video|input|source|log|text|pdf|csv|media|local) files?(?=[.,;:(]|$)"
    r"|(?:the )?location (?:of|on) (?:the )?(?:\w+ )?(?:file|disk|directory)"
)
_PART: Final = re.compile(
    r"(?:the |a |name of the |full |nested )*(?:fields?|propert(?:y|ies)|attributes?|keys?|columns?|nodes?|elements?)\b"
    r"|(?:the |full )*(?:secret|setting|node|menu|variable) path\b"
    r"|(?:the |full )*paths? (?:of|to|for) (?:the |an? )?(?:secret|key|setting|node|property|field|menu|route|variable)"
    r"\b"
    r"|(?:the )?json path (?!for)|.{0,60}\b(?:dot[- ]notation|jsonpath|json path expression|xpath|css selector|"
    r"json ?pointer|url paths?|api path|endpoint path|scene (?:path|tree)|node path|object path|menu path|route)\b"
)
"""A path inside a document or of an address: not on this machine."""
_ELSEWHERE: Final = re.compile(
    r"\b(?:in (?:the |a )?(?:repo(?:sitory)?|bucket|drive|project|vault|workspace)|repository path|"
    r"api (?:path|endpoint)|jsonpath|xpath|bucket|google drive|remote|url path|key path|property path|dashboard|"
    r"on the (?:printer|device|server|host)|object key|namespaced|endpoint|rest path|branch|"
    r"json ?patch|documentation|docs? path)\b"
)
_LOCAL: Final = re.compile(
    r"\babsolute\b|\blocal(?:ly)?\b|\bon disk\b|\bfile ?system\b|\bmachine running\b|\bserver-readable\b|/home/|"
    r"/users/|/tmp/|/path/to|\b[a-z]:\\|~/|\bfrom disk\b|\bto upload\b|\bto attach\b"
)
_KEPT_IN_FOLDERS: Final = (
    "email", "emails", "mail", "mails", "message", "messages", "note", "notes", "bookmark", "bookmarks", "reminder",
)  # fmt: skip
"""What services keep in folders of their own."""
_IN_A_FILE: Final = re.compile(
    r"\bpaths?\b|\bfiles?\b|\bdisk\b|director(?:y|ies)|/home/|~/|\bvaults?\b|markdown|\bmaildir\b|\bmbox\b"
)
STORES: Final = frozenset(
    {"file id", "folder id", "parent folder id", "parent id", "drive id", "document id", "spreadsheet id", "project id",
     "repo", "owner", "repository", "bucket", "bucket name", "repo slug", "repository id"}
)  # fmt: skip
"""Arguments beside which a path is one in the store that they name."""
_VERSIONS: Final = frozenset({"branch", "ref"})
"""Likewise, unless the working copy is here."""
_STORE: Final = re.compile(r"\b(?:google )?drive\b|\brepositor|\bbucket\b")
_HERE: Final = re.compile(r"\blocal|absolute|disk|save\b|download|upload")
_CONTENT: Final = re.compile(r"base ?64|binary data|file contents?\b")
_A_PATH: Final = re.compile(r"(?:~|\.{1,2})?/[\w.~-]|[A-Z]:\\|\./?$")
_A_FILE: Final = re.compile(r"[A-Za-z][\w-]*\.(?!com$|org$|net$|io$|dev$|app$|ai$)[a-z][a-z0-9]{2,4}")
"""The name of a file with its extension, as servers have it for a default."""
_OR_PATH: Final = re.compile(r".{0,40}\b(?:name|id|key|chart|package|url)\b.{0,20}\bor path to\b")
_FOREIGN: Final = lexicon(
    "ruta carpeta chemin fichier dossier pfad datei ordner caminho arquivo pasta percorso cartella"
)
_FOREIGN_TEXT: Final = re.compile("\u8def\u5f84|\u6587\u4ef6\u8def\u5f84|\u76ee\u5f55|\u30d1\u30b9|\uacbd\ub85c")
"""Paths in the other languages in which servers are written."""
_OTHER_PATHS: Final = lexicon(
    """return critical learning career clip shortest name symbol module class element field property menu node secret
    api route object tree thread mount attribute column"""
)
"""What has a path that is no file: the return path of a mail."""
_KEPT_ELSEWHERE: Final = re.compile(
    r"\b(?:secrets?|entr(?:y|ies)|znodes?|registry|policy|polic(?:y|ies)|kv|key-value)\b"
)
"""What has paths in a store of its own."""
_EITHER: Final = re.compile(r"\blocal\b.{0,40}\bor\b.{0,20}\bremote\b|\bremote\b.{0,40}\bor\b.{0,20}\blocal\b")
_ORIGIN_OF: Final = re.compile(r"\b(?:of|to) (?:the |an? )?(?:remote )?files? to (?:download|fetch|get|export|read)\b")
_PATTERNS: Final = lexicon("include exclude ignore allow deny filter match skip")
_FILTERED: Final = re.compile(r"\bfilter\b|\bmatching\b|\bonly (?:show|return|include)")


def file(argument: Argument, tool: Setting) -> Meaning | None:
    """Return the roles of a path, which is known by its name, its words, or what it may be by default."""
    if argument.is_flag or argument.holds_numbers or not argument.words or not _may_be_path(argument, tool):
        return None
    if _PART.match(argument.says) or is_named_by_id(argument.says):
        return meaning("identifier")
    if _is_only_a_label(argument, tool):
        return None
    if _is_folder_of_a_service(argument, tool):
        return meaning("identifier", doubt=NO_WORD_KNOWN)  # a plain name, and no path
    words = set(argument.words)
    if tool.speaks_of("upload") and words & {"source", "src", "local"}:
        return meaning("read-path")
    fetched = _is_fetched(argument, tool)
    if is_elsewhere(argument, tool, here=fetched or _is_here(argument, tool)):
        either = path_roles(argument, tool) if _EITHER.search(argument.says) else set()
        return meaning("identifier", *either)
    if tool.subject.remote and not fetched and not _is_here(argument, tool):
        filtered = tool.only_reads and _FILTERED.search(argument.says)
        roles = set() if filtered else path_roles(argument, tool)
        return meaning("identifier", *roles, doubt="a path here, or in a store elsewhere")
    found = meaning("write-path") if fetched else _local(argument, tool)
    if fetched and _ORIGIN_OF.search(first_sentence(argument.says)):  # what is fetched, or where it goes
        return meaning("identifier", "write-path", doubt="what is fetched, or where it goes")
    inside = argument.words == ("path",) and not argument.says and _KEPT_ELSEWHERE.search(tool.nutshell)
    return meaning("identifier", *found.roles, doubt="a path here, or of an entry of a store") if inside else found


def _local(argument: Argument, tool: Setting) -> Meaning:
    """Return the roles of a path on this machine."""
    if _OR_PATH.match(argument.says):
        return meaning("identifier", "read-path")
    told = _SPOKEN.search(argument.says) or _BEGINS.match(argument.says)
    loose = argument.words[-1] in ("filename", "file", "name") and not told and DESTINATION.isdisjoint(argument.words)
    if loose and not tool.subject.on_files and not tool.subject.is_about("files", "shell"):
        return _loose(tool)
    return meaning(*path_roles(argument, tool))


def _is_only_a_label(argument: Argument, tool: Setting) -> bool:
    """Return whether it is a file's contents, or the name of an attachment: under which it goes up, or is found."""
    last, says = argument.words[-1], first_sentence(argument.says)
    found = tool.speaks_of("attachment", "attachments") and tool.only_reads
    if found and last == "filename" and not any(DESTINATION & set(name.split()) for name in tool.siblings):
        return True
    if last in ("file", "filename", "folder") and (argument.free or (_CONTENT.search(says) and "path" not in says)):
        return True
    sent = tool.speaks_of("upload", "attach", "attachment") and any(
        {"content", "base64", "data"} & set(name.split()) for name in tool.siblings
    )
    return sent and last in ("filename", "name") and "path" not in says


def _is_fetched(argument: Argument, tool: Setting) -> bool:
    """Return whether something is fetched and put there."""
    words = set(argument.words)
    if "delete" in tool.effects and not words & DESTINATION:  # what was fetched is removed again
        return False
    if tool.speaks_of("download", "export", "save") and words & (DESTINATION | {"filename", "local", "to"}):
        return True
    if words & {"output", "outfile", "outdir"} and argument.words[-1] in NAMES and not argument.above:
        return True
    if tool.speaks_of("download", "save") and argument.words[-2:] == ("file", "name"):
        return True
    if named_inside(argument, tool.arguments) is not None:
        return True
    return tool.speaks_of("download") and _is_only_path(argument, tool)


def _is_folder_of_a_service(argument: Argument, tool: Setting) -> bool:
    """Return whether mails or notes are kept in what an argument names, and nothing says that these are files."""
    if argument.words[-1] not in ("folder", "destination", "source") or not tool.speaks_of(*_KEPT_IN_FOLDERS):
        return False
    if tool.subject.on_files or tool.speaks_of("attachment", "export", "download", "save", "import", "dump", "backup"):
        return False
    return not _IN_A_FILE.search(f"{argument.says} {tool.nutshell}")


def is_said_to_be_here(argument: Argument) -> bool:
    """Return whether its description says that it is on this machine."""
    return _LOCAL.search(argument.says) is not None and "remote" not in first_sentence(argument.says)


def _is_here(argument: Argument, tool: Setting) -> bool:
    """Return whether its own words say that it is on this machine."""
    if is_said_to_be_here(argument):
        return True
    in_a_store = {"folder", "parent"} & set(argument.words) and not STORES.isdisjoint(tool.siblings)
    return not in_a_store and _HERE.search(f"{argument.says} {' '.join(argument.words)}") is not None


def is_elsewhere(argument: Argument, tool: Setting, *, here: bool) -> bool:
    """Return whether its own words, or the other arguments, say that it is not on this machine."""
    words = set(argument.words)
    beside_local = "local" not in words and any("local" in name.split() for name in tool.siblings)
    beside_local = beside_local and not is_auxiliary(argument)  # the key of a transfer is here
    of_mail = argument.words[-1] == "folder" and tool.subject.is_about("mail", "chat") and not speaks_of_path(argument)
    of_mail = of_mail or (argument.words[-1] == "mailbox" and tool.subject.is_about("mail"))
    of_notes = "notebook" in words and tool.subject.is_about("notes") and not _LOCAL.search(argument.says)
    if "remote" in words or beside_local or of_mail or of_notes:
        return True
    if is_root(argument) and not tool.subject.remote:
        return False
    if root_of(argument, tool.arguments) is not None and not tool.subject.remote:
        return False
    if speaks_of_elsewhere(argument) and not is_said_to_be_here(argument):
        return True
    return _is_in_a_store(argument, tool) and not here and not is_auxiliary(argument)


def speaks_of_path(argument: Argument) -> bool:
    """Return whether its description mentions one."""
    return _SPOKEN.search(argument.says) is not None


def is_local_path(argument: Argument, tool: Setting) -> bool:
    """Return whether it is called a path, and nothing says that it is one elsewhere."""
    called = argument.words[-1:] in (("path",), ("dir",), ("directory",), ("filepath",)) or is_root(argument)
    return called and (is_root(argument) or not _ELSEWHERE.search(argument.says)) and not tool.subject.remote


def speaks_of_elsewhere(argument: Argument) -> bool:
    """Return whether its description begins by saying that what it names is not on this machine."""
    return _ELSEWHERE.search(first_sentence(argument.says)) is not None


def _may_be_path(argument: Argument, tool: Setting) -> bool:
    words = argument.words
    last = words[-1]
    other = last == "token" or (words[-2:-1] and words[-2] in _OTHER_PATHS and last == "path")
    if other or _is_of_another_kind(argument, tool):
        return False
    of_urls = any({"url", "uri"} & set(name.split()) for name in tool.siblings)
    if of_urls and (words[0] in _PATTERNS or re.match(r"(?:regex|glob|patterns?)\b", argument.says)):
        return False
    described = _BEGINS.match(argument.says) is not None or bool(
        argument.formats & {"path", "file-path", "directory-path"}
    )
    described = described or any(_looks_like_path(value) for value in (*argument.defaults, *argument.examples))
    suffixed = last.endswith(("path", "dir", "file", "folder")) and last not in ("profile", "xpath", "jsonpath")
    named = suffixed or last in NAMES or (last in ENDS and speaks_of_path(argument)) or is_root(argument)
    named = named or (
        len(words) > 1 and words[-2] in ("file", "directory", "folder", "path") and last not in _NOT_A_PATH
    )
    named = named or not _FOREIGN.isdisjoint(words) or _FOREIGN_TEXT.search(argument.says[:60]) is not None
    named = named or last in ("cert", "certificate", "keyfile", "pem", "kubeconfig")
    named = named or (last == "attach" and "send" in tool.effects)
    named = named or (
        words[0] == "save" and (last in ("as", "to", "path") or (tool.subject.on_files and len(words) > 1))
    )
    called = len(words) > 1 and last == "name" and tool.subject.on_files
    called = called and (words[-2] in ("file", "output") or _is_named_file(argument))
    moved = last in ("source", "destination", "src", "dest", "from", "to") and tool.speaks_of(*_MOVED)
    moved = moved or (last in ENDS and tool.speaks_of(*_CARRYING) and _CARRIED.search(tool.nutshell) is not None)
    moved = moved or (last in _KINDS | ENDS | _TERSE and _works_on_files(argument, tool))
    globs = last == "glob" and {"file", "path"} & set(words) and not of_urls
    if globs or _is_result(argument, tool) or _is_local_end(argument, tool):
        return True
    return described or called or (last not in _NOT_A_PATH and (named or (moved and not tool.subject.remote)))


def _is_of_another_kind(argument: Argument, tool: Setting) -> bool:
    """Return whether a sibling says which kinds it may be of, and none is a file: `target` with `target_type`."""
    kinds = [other for other in tool.arguments if other.words in ((*argument.words, "type"), (*argument.words, "kind"))]
    named = [str(value).lower() for other in kinds for value in other.enum]
    return bool(named) and not any(word in value for value in named for word in ("file", "path", "dir", "folder"))


def _is_result(argument: Argument, tool: Setting) -> bool:
    """Return whether it is where a tool puts what it makes, though only its name says so: `export_layer(output)`."""
    if argument.says or argument.free or argument.above or argument.enum:
        return False
    if argument.words in (("output",), ("out",)) and argument.required and not tool.subject.is_about("shell"):
        return True
    if argument.words in (("output",), ("out",), ("destination",), ("dest",)):
        return tool.speaks_of(*_MAKING_FILES)
    restored = argument.words == ("target",) and tool.speaks_of("restore", "extract", "unpack", "unzip")
    return restored and not tool.subject.is_about("data", "store")


def _is_local_end(argument: Argument, tool: Setting) -> bool:
    """Return whether it is the file here of a pair of files: `push(local, remote)`."""
    return argument.words == ("local",) and "remote" in tool.siblings and argument.is_plain


def _is_named_file(argument: Argument) -> bool:
    """Return whether what has a name is a file: its description gives an extension or says so."""
    return argument.words[-2] in _FILE_NAMES and _EXTENSION.search(argument.says) is not None


def _works_on_files(argument: Argument, tool: Setting) -> bool:
    """Return whether the tool, or its whole server, works on files of this machine."""
    if tool.subject.remote or argument.free:
        return False
    if argument.words[-1] == "model" and not _EXTENSION.search(argument.says):
        return False
    if not tool.subject.on_files:
        return tool.speaks_of(*_WORK_ON_FILES)
    terse = not argument.says and argument.words[-1] in _TERSE
    told = terse or _EXTENSION.search(argument.says) or _MEDIA.search(argument.says)
    return tool.speaks_of(*_WORK_ON_FILES) or bool(told)


def _is_only_path(argument: Argument, tool: Setting) -> bool:
    """Return whether nothing else of the call is a path: what is fetched has to go there."""
    return len([name for name in tool.siblings if set(name.split()) & NAMES]) == 1 and argument.words[-1] in NAMES


def _looks_like_path(value: object) -> bool:
    if not isinstance(value, str) or "://" in value:
        return False
    return _A_PATH.match(value) is not None or _A_FILE.fullmatch(value) is not None


def _is_in_a_store(argument: Argument, tool: Setting) -> bool:
    stores = {name for name in tool.siblings & STORES if not _is_store_here(name, tool)}
    if stores or (tool.subject.remote and not _VERSIONS.isdisjoint(tool.siblings)):
        return True
    return tool.subject.remote and _STORE.search(f"{argument.says} {tool.nutshell}") is not None


def _is_store_here(name: str, tool: Setting) -> bool:
    """Return whether what is called a repository is a directory, or is where files of this machine are backed up to."""
    if name not in ("repo", "repository"):
        return False
    kept = tool.speaks_of("backup", "restore", "snapshot", "archive", "worktree")
    return kept or any(
        " ".join(other.words) == name and (_LOCAL.search(other.says) or _BEGINS.match(other.says))
        for other in tool.arguments
    )


def _loose(tool: Setting) -> Meaning:
    """Return the roles of a file of which only the name is given."""
    handed_over = tool.speaks_of("upload", "attach", "ingest", "import", "print", "transcribe", "sign")
    if handed_over:
        return meaning("read-path")
    if "send" in tool.effects:
        return meaning("outbound-content", doubt="the name of a file that is sent along")
    if re.search(r"\bdownload|save\b", tool.nutshell) or tool.speaks_of(*CAPTURING):
        return meaning("write-path", "identifier")
    roles = ("read-path",) if tool.only_reads else ("read-path", "write-path")
    return meaning(*roles, "identifier", doubt="a file, of which it is not said where")
