"""What a server is about, from all of its tools: files, mail, chat, tickets, data, a shell, a browser."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ironcurtain.compiler.annotate.arguments import arguments_of
from ironcurtain.compiler.annotate.text import clean, first_sentence, lexicon, words_in, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ironcurtain.compiler.annotate.arguments import Argument

# Words that speak for a subject, in names of tools and in what they say of themselves.
_SIGNS: Final[dict[str, frozenset[str]]] = {
    "mail": lexicon("email mail inbox gmail smtp imap mailbox outlook"),
    "chat": lexicon("slack discord telegram channel dm chat message whatsapp teams"),
    "calendar": lexicon("calendar event meeting appointment attendee"),
    "tracker": lexicon(
        """issue ticket bug jira linear zendesk freshdesk sentry pull merge gitlab github review wiki confluence crm
        deal hubspot salesforce discussion release article conversation helpdesk incident pagerduty opsgenie
        responder"""
    ),
    "notes": lexicon(
        """task todo note reminder card flashcard anki obsidian logseq vault todoist taskwarrior trello notion page
        block journal"""
    ),
    "data": lexicon(
        """sql database table schema mysql postgres sqlite duckdb bigquery cypher neo4j redis mongo dataset
        elasticsearch index promql warehouse"""
    ),
    "store": lexicon(
        """s3 bucket drive gdrive dropbox onedrive sharepoint blob storage spreadsheet google airtable base"""
    ),
    "browser": lexicon("browser page selector element playwright puppeteer navigate screenshot click tab webpage"),
    "shell": lexicon("shell command terminal process bash powershell repl interpreter cli kubectl container docker"),
    "files": lexicon("file directory folder filesystem path workbook excel document csv pdf"),
    "money": lexicon(
        """order trade stock portfolio payment invoice transaction account balance crypto watchlist asset budget
        wallet token contract refund charge"""
    ),
    "publishing": lexicon("blog cms website wordpress newsletter campaign podcast toot tweet timeline hashtag"),
    "device": lexicon("device mobile android ios screen simulator home assistant entity light automation"),
}
_FILES: Final = lexicon("path filepath filename file directory dir folder workdir cwd")
_REMOTE_STORES: Final = re.compile(
    r"\b(?:google (?:drive|docs?|sheets?|slides?|workspace|calendar)|gdrive|gmail|github|gitlab|bitbucket|s3|bucket|"
    r"dropbox|onedrive|sharepoint|airtable|notion|confluence|netlify|salesforce|hubspot|zendesk|freshdesk|odoo|jenkins|"
    r"trello|supabase|azure|gcs|nextcloud|owncloud|webdav|cloud storage|"
    r"wiki pages?)\b"
)
_CODE: Final = re.compile(r"\b(?:merge requests?|gitlab)\b")
_LOCAL: Final = re.compile(
    r"\b(?:local (?:file|path|disk|directory|filesystem|machine)|file ?system|absolute path|on disk|"
    r"working (?:directory|tree)|local git|your computer|this machine|workbook|file path|full path|filepath)\b"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a tool, and the server it belongs to, is about."""

    weights: dict[str, float]
    remote: bool
    """What it calls files and paths are in a store somewhere else."""
    on_files: bool = False
    """Its server works on files of this machine."""
    on_code: bool = False
    """Its server keeps repositories: what it calls a project is one."""

    def is_about(self, *names: str) -> bool:
        """Return whether one of these is among what it is mostly about."""
        top = max(self.weights.values(), default=0.0)
        return any(self.weights.get(name, 0.0) >= 0.5 * top > 0 for name in names)


def server_subject(definitions: Iterable[Mapping[str, Any]]) -> Subject:
    """Return the subject of a whole server."""
    definitions = list(definitions)
    weights: dict[str, float] = {}
    remote = local = on_files = on_code = 0
    for definition in definitions:
        own = _weigh(definition)
        for name, weight in own.items():
            weights[name] = weights.get(name, 0.0) + weight
        in_folders = max(own.get("mail", 0.0), own.get("notes", 0.0)) > own.get("files", 0.0)  # of its own
        arguments = arguments_of(definition).values()
        text = f"{' '.join(words_of(str(definition.get('name'))))} {clean(definition.get('description'))}"
        text += " " + " ".join(argument.says for argument in arguments)
        remote += bool(_REMOTE_STORES.search(text))
        local += bool(_LOCAL.search(text))
        on_files += any(
            _names_file(argument) and not (in_folders and argument.words[-1] == "folder") for argument in arguments
        )
        on_code += bool(_CODE.search(text))
    away = remote > local and remote * 3 >= len(definitions)
    files = not away and max(local, on_files) * 3 >= len(definitions)
    return Subject(weights, away, files, on_code=on_code * 4 >= len(definitions))


def _names_file(argument: Argument) -> bool:
    """Return whether an argument that a call must give is called a file or a directory."""
    words = argument.words
    named = bool(words) and (words[-1] in _FILES or words[-2:] == ("file", "name"))
    return named and argument.required and not argument.above and not argument.free


def tool_subject(definition: Mapping[str, Any], server: Subject) -> Subject:
    """Return the subject of one tool: its own words count most, those of its server a little."""
    own = _weigh(definition)
    total = sum(server.weights.values()) or 1.0
    weights = {
        name: 3 * own.get(name, 0.0) + 4 * server.weights.get(name, 0.0) / total for name in {*own, *server.weights}
    }
    return Subject(weights, server.remote, server.on_files, server.on_code)


def _weigh(definition: Mapping[str, Any]) -> dict[str, float]:
    name = set(words_of(str(definition.get("name"))))
    says = set(words_in(first_sentence(clean(definition.get("description")))))
    return {
        subject: 2.0 * len(signs & name) + len(signs & says)
        for subject, signs in _SIGNS.items()
        if signs & (name | says)
    }
