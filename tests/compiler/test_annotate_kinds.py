"""Kinds of arguments, each with a near miss that has another meaning."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compiler.test_annotate import might_of, one, tool

LIST = {"type": "array", "items": {"type": "string"}}
OBJECT = {"type": "object"}
NUMBER = {"type": "integer"}


def roles(definition: dict[str, Any]) -> dict[str, list[str]]:
    found = one(definition)
    return {leaf: found.roles(leaf) for leaf in found.arguments}


@pytest.mark.parametrize(
    ("definition", "leaf"),
    [
        (tool("restart_unit", unit=""), "unit"),
        (tool("get_connector", connector=""), "connector"),
        (tool("block_client", "Block a client", mac="", reason=""), "mac"),
        (tool("stop", "Stop a machine", vmid=NUMBER), "vmid"),
        (tool("delete_tag", "Delete a tag", tag=""), "tag"),
        (tool("get_secret", "Read a secret", secret=""), "secret"),
        (tool("status", "Show the status of a service", ("unit",), unit="", lines=NUMBER), "unit"),
        (tool("switch_context", "Set the current context", name="Name of the context to set as current"), "name"),
        (tool("purge", "Purge a cache", ("zone",), zone="", force={"type": "boolean"}), "zone"),
        (tool("play", "Play music", playlist="", volume=NUMBER), "playlist"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)
def test_what_is_not_known_to_be_harmless_names_what_is_acted_on(definition: dict[str, Any], leaf: str) -> None:
    assert "identifier" in roles(definition)[leaf]


@pytest.mark.parametrize(
    "name",
    [
        "output_format", "mode", "since", "created_after", "max_results", "page_size", "sort_order", "color", "font",
        "query", "keyword", "include_archived", "timezone", "password", "api_token", "language", "priority", "width",
        "duration", "regex", "cursor",
    ],
)  # fmt: skip
def test_modes_times_measures_looks_searches_and_secrets_are_harmless(name: str) -> None:
    definition = tool("update_gadget", "Update a gadget", ("gadget",), **{"gadget": "", name: ""})
    assert roles(definition) == {"gadget": ["identifier"], name: ["none"]}


@pytest.mark.parametrize("name", ["title", "description", "summary", "text", "value", "metadata", "first_name"])
def test_values_and_texts_leave_the_machine_unless_they_are_kept_on_it(name: str) -> None:
    away = tool("update_gadget", "Update a gadget", ("gadget",), **{"gadget": "", name: ""})
    assert roles(away)[name] == ["outbound-content"]
    here = tool("update_file", "Update a file", ("path",), **{"path": "Path of a local file", name: ""})
    assert roles(here)[name] == ["none"]
    read = tool("get_gadget", "Get a gadget", ("gadget",), **{"gadget": "", name: ""})
    assert "outbound-content" not in roles(read)[name]


def test_a_word_that_ends_like_an_id_is_none() -> None:
    found = roles(tool("set", "Set a layout", ("page_key",), page_key="", grid=NUMBER, pageid=NUMBER))
    assert found == {"page_key": ["identifier"], "grid": ["none"], "pageid": ["identifier"]}


def test_a_tag_that_is_attached_is_harmless_and_one_that_is_deleted_is_not() -> None:
    assert roles(tool("add_tag", "Tag a host", ("server",), server="", tag=""))["tag"] == ["outbound-content"]
    assert roles(tool("delete_tag", "Remove a tag", tag=""))["tag"] == ["identifier"]


@pytest.mark.parametrize(
    ("definition", "leaf", "expected"),
    [
        (tool("create_trigger", "Create an event trigger", event="", target_url=""), "target_url", {"send-url"}),
        (tool("create_check", "Create an uptime check", alert_details={"type": "array", "items": tool("x", url="")["inputSchema"]}),
         "alert_details[].url", {"send-url"}),
        (tool("upload_file", "Upload a file", file_path="", upload_url=""), "upload_url", {"send-url"}),
        (tool("add_asset", "Add an asset", upload_url="URL of the image to import"), "upload_url", {"fetch-url"}),
        (tool("set_commit_status", "Set the status of a commit", sha="", target_url="Shown beside it"), "target_url", {"fetch-url"}),
        (tool("http_request", "Make an HTTP request", method={"enum": ["GET", "POST"]}, url="", body=""), "url", {"fetch-url", "send-url"}),
        (tool("copy_table", "Copy a table", source_dsn="", target_dsn="", table=""), "target_dsn", {"fetch-url", "send-url"}),
        (tool("copy_table", "Copy a table", source_dsn="", target_dsn="", table=""), "source_dsn", {"fetch-url"}),
        (tool("list_tables", "List tables", connectionString=""), "connectionString", {"fetch-url"}),
        (tool("list_events", "List events", calendar_url=""), "calendar_url", {"calendar", "fetch-url"}),
        (tool("create_notification_channel", "Add a channel for alerts", kind="", settings=OBJECT), "settings", {"outbound-content", "send-url"}),
        (tool("update_editor", "Update the editor", ("editor_id",), editor_id="", settings=OBJECT), "settings", {"outbound-content"}),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_addresses(definition: dict[str, Any], leaf: str, expected: set[str]) -> None:
    assert set(roles(definition)[leaf]) == expected


@pytest.mark.parametrize(
    ("definition", "leaf", "expected"),
    [
        (tool("launch_app", "Launch an app", bundle_id="", args=LIST), "args", ["command"]),
        (tool("spawn", "Start a program", argv=LIST), "argv", ["command"]),
        (tool("package", "Package the app", project_id="", extraArgs=LIST), "extraArgs", ["command"]),
        (tool("imap", "Send raw commands", commands={"type": "array", "items": tool("x", command="", data="")["inputSchema"]}),
         "commands[].data", ["command"]),
        (tool("write_contract", "Call a contract", address="", args=LIST), "args", ["outbound-content"]),
        (tool("list_images", "List images", build_args=LIST), "build_args", ["none"]),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_arguments_of_programs_are_commands(definition: dict[str, Any], leaf: str, expected: list[str]) -> None:
    assert roles(definition)[leaf] == expected


@pytest.mark.parametrize(
    ("definition", "leaf", "expected"),
    [
        (tool("post_status", "Publish a toot", status="", spoiler_text="", visibility=""), "status", ["outbound-content"]),
        (tool("publish", "Publish a message to an exchange", exchange="", payload=""), "payload", ["outbound-content"]),
        (tool("send_voice_call", "Call a number and speak", to="", speech=""), "speech", ["outbound-content"]),
        (tool("post_message", "Post in a channel", channel="", attachments={"type": "array", "items": tool("x", pretext="", title="", text="", color="")["inputSchema"]}),
         "attachments[].title", ["outbound-content"]),
        (tool("post_message", "Post in a channel", channel="", attachments={"type": "array", "items": tool("x", pretext="", title="", text="", color="")["inputSchema"]}),
         "attachments[].color", ["none"]),
        (tool("update_profile", "Update your public profile", bio=""), "bio", ["outbound-content"]),
        (tool("create_post", "Create a blog post", title="", content="", excerpt=""), "excerpt", ["outbound-content"]),
        (tool("set_job", "Change a job", job_id="", status=""), "status", ["none"]),
        (tool("set_redis", "Set a key of the cache", key="", payload=""), "payload", ["none"]),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_every_text_of_a_tool_that_sends_or_publishes_leaves(
    definition: dict[str, Any], leaf: str, expected: list[str]
) -> None:
    assert roles(definition)[leaf] == expected


@pytest.mark.parametrize(
    ("definition", "leaf", "expected"),
    [
        (tool("install_chart", "Install a chart", repo="Chart repository URL", valuesFile="Path to values file"), "valuesFile", ["read-path"]),
        (tool("upgrade", "Upgrade a release", release="", kubeconfig=""), "kubeconfig", ["read-path"]),
        (tool("backup", "Back up directories", repository="", paths=LIST), "paths", ["read-path", "write-path"]),
        (tool("ingest_file", "Ingest a file", file_path=""), "file_path", ["read-path"]),
        (tool("export_layer", "Export a layer", layer_id="", output=""), "output", ["write-path"]),
        (tool("list_pods", "List pods", output=""), "output", ["identifier"]),
        (tool("get_document", "Download a document", document_id="", output_path=""), "output_path", ["write-path"]),
        (tool("push_file", "Push a file to a device", local="", remote=""), "local", ["read-path"]),
        (tool("pull_file", "Pull a file from a device", local="", remote=""), "local", ["write-path"]),
        (tool("apply_patch", "Apply a patch", working_copy="", patch_file=""), "working_copy", ["read-path", "write-path"]),
        (tool("docker_build", "Build an image", context="Build context directory", tag=""), "context", ["read-path", "write-path"]),
        (tool("slice", "Slice a model", ("model_path", "output_path"), model_path="", output_path=""), "model_path", ["identifier", "read-path"]),
        (tool("solve_cell", "Work out the value of a cell of a workbook", ("path", "target"), path="", target=""), "path", ["identifier", "read-path", "write-path"]),
        (tool("apply_style", "Apply a style to a table of a document", ("filename",), filename=""), "filename", ["read-path", "write-path"]),
        (tool("link_config", "Symlink a config file", source="", target=""), "target", ["write-path"]),
        (tool("bind_queue", "Bind a queue to an exchange", source="", destination=""), "source", ["identifier"]),
        (tool("update_dashboard", "Update a dashboard", folderUid=""), "folderUid", ["identifier"]),
        (tool("read_thread", "Read a thread", thread_root=""), "thread_root", ["channel"]),
        (tool("kv_get", "Read a secret", path="Path of the secret"), "path", ["identifier"]),
        (tool("add_node", "Add a node", node_path="Where in the tree"), "node_path", ["identifier"]),
        (tool("connect", "Connect over ssh", host="", private_key_path=""), "private_key_path", ["read-path"]),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_files_of_tools_that_say_little(definition: dict[str, Any], leaf: str, expected: list[str]) -> None:
    assert roles(definition)[leaf] == expected


@pytest.mark.parametrize(
    ("definition", "leaf", "expected"),
    [
        (tool("forward_email", "Forward an email", to="", email_id=""), "email_id", ["identifier"]),
        (tool("send_sms", "Send a text message", numbers=LIST, text=""), "numbers", ["recipient"]),
        (tool("share_trip", "Share a trip", trip="", **{"with": LIST}), "with", ["recipient"]),
        (tool("unsubscribe", "Unsubscribe a member", list_id="", email=""), "email", ["identifier"]),
        (tool("send_email", "Send an email", to="", **{"from": ""}), "from", ["none"]),
        (tool("schedule_interview", "Schedule a meeting", interviewers=LIST, start=""), "interviewers", ["attendee"]),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_people_and_what_is_called_like_them(definition: dict[str, Any], leaf: str, expected: list[str]) -> None:
    assert roles(definition)[leaf] == expected


def test_a_topic_that_messages_go_to_is_a_channel_and_a_group_of_consumers_is_none() -> None:
    found = roles(tool("produce_message", "Produce a message to a topic", topic="", value=""))
    assert found == {"topic": ["channel"], "value": ["outbound-content"]}
    assert roles(tool("delete_consumer_group", "Delete a consumer group", group=""))["group"] == ["identifier"]


def test_a_realm_or_a_virtual_host_selects_what_is_touched() -> None:
    assert "place" in roles(tool("list_sessions", "List sessions", realm="", user_id=""))["realm"]
    assert "place" in roles(tool("purge_queue", "Purge a queue", vhost="", queue=""))["vhost"]


@pytest.mark.parametrize(
    ("definition", "effects"),
    [
        (tool("set_volume", "Set the volume", player=""), {"update"}),
        (tool("set_variable", "Set a variable", key="", value=""), {"create", "update"}),
        (tool("send_command", "Run a script on instances", command=""), {"execute"}),
        (tool("send_message", "Send a message", to=""), {"send"}),
        (tool("port_forward", "Forward a local port", port=NUMBER), {"execute"}),
        (tool("forward_email", "Forward an email", to=""), {"send"}),
        (tool("add_label", "Add a label to a mail", label=""), {"update"}),
        (tool("consume_messages", "Consume messages", topic=""), {"read"}),
        (tool("make_request", "Make a request to the API", path=""), {"execute"}),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_effects_by_what_the_verb_is_about(definition: dict[str, Any], effects: set[str]) -> None:
    assert one(definition).effects == effects


def test_a_message_that_is_taken_from_a_queue_is_gone_there() -> None:
    assert "change" in might_of(tool("consume_messages", "Consume messages", topic="")).acts
    assert "send" in might_of(tool("produce_message", "Produce a message", topic="", value="")).acts


def test_a_path_resolves_from_the_working_copy_beside_it() -> None:
    entry: Any = one(tool("add", "Add files", ("working_copy", "file"), working_copy="", file="")).fields()["args"]
    assert entry["file"]["relativeTo"] == "working_copy"


def test_a_target_whose_kinds_are_listed_is_a_file_only_if_one_of_them_is() -> None:
    kinds = {"type": "string", "enum": ["heading", "block"]}
    files = {"type": "string", "enum": ["file", "url"]}
    says = "Move or patch a file at a path"
    assert "write-path" not in roles(tool("patch_file", says, filepath="", target="", target_type=kinds))["target"]
    assert "write-path" in roles(tool("move_file", says, filepath="", target="", target_type=files))["target"]


def test_files_beside_the_first_one_are_nothing_where_they_are_left_out() -> None:
    definition = tool(
        "convert", "Convert a document between formats", (),
        input_file="Path of the file to read", reference_doc="Path of a reference document", style_file="",
    )  # fmt: skip
    entries: Any = one(definition).fields()["args"]
    assert {leaf: entry["absent"] for leaf, entry in entries.items()} == {
        "input_file": "unknown", "reference_doc": "nothing", "style_file": "nothing",
    }  # fmt: skip


def test_a_file_name_lies_in_the_directory_that_it_is_saved_in() -> None:
    definition = tool(
        "download_attachment", "Download an attachment", ("url", "filename"),
        url="", filename="Name of the file to save", dest_dir="Directory to save the file in",
    )  # fmt: skip
    entries: Any = one(definition).fields()["args"]
    assert entries["filename"]["relativeTo"] == "dest_dir"
    assert "relativeTo" not in entries["dest_dir"]


def test_the_trash_of_a_tool_with_modes_belongs_to_the_one_that_deletes() -> None:
    action = {"type": "string", "enum": ["create", "update", "delete"]}
    definition = tool("manage_note", "Create, update or trash a note", ("action", "key"), action=action, key="")
    found = might_of(definition)
    assert "trash" in found.by_value["delete"]
    assert "trash" not in found.by_value["create"]


def test_a_notebook_of_notes_is_no_file() -> None:
    says = "Notebook name or path (e.g. 'Work' or 'Projects/Work')"
    assert (
        "read-path"
        not in roles(tool("create_note", "Create a note in a notebook", title="", notebook=says))["notebook"]
    )
    opened = tool("run_notebook", "Run a Jupyter notebook file", notebook="Path of the notebook file")
    assert "read-path" in roles(opened)["notebook"]


@pytest.mark.parametrize(
    ("definition", "leaf", "wanted"),
    [
        (tool("delete_folder", "Delete a folder of flows", folder="The folder id, or its exact name."), "folder", "identifier"),
        (tool("get_script", "Get a script", script="The script id, or its exact name"), "script", "identifier"),
        (tool("consume", "Consume messages with Kafka", ("topic",), topic=""), "topic", "channel"),
        (tool("create_chat", "Create a chat", members=LIST), "members", "recipient"),
        (tool("create_message", "Create a message", receive_id="The id of the message recipient"), "receive_id", "recipient"),
        (tool("make_call", "Make an outbound call", to_number="The phone number to call"), "to_number", "recipient"),
        (tool("create_monitor", "Crawl pages again and again", page=""), "page", "fetch-url"),
        (tool("send_email", "Send an email", to="", template_variables=OBJECT), "template_variables", "outbound-content"),
        (tool("run_pipeline", "Run a pipeline", config_content=""), "config_content", "command"),
        (tool("run_method", "Call a method of the server", ("method",), method=""), "method", "identifier"),
        (tool("write_layer", "Write a layer to a file", path="Path to the input file", output=""), "path", "read-path"),
        (tool("create_campaign", "Create a campaign", name="", bid_cap=NUMBER), "bid_cap", "amount"),
        (tool("edit_file", "Write or edit a file", file_path="Absolute path"), "file_path", "read-path"),
        (tool("save_context", "Save the contents of files", file_globs=LIST), "file_globs", "read-path"),
        (tool("create_sheet", "Create a sheet", folder_token="Folder token"), "folder_token", "identifier"),
        (tool("subscribe", "Subscribe to a topic", endpoint=""), "endpoint", "recipient"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_kinds_that_unseen_servers_showed(definition: dict[str, Any], leaf: str, wanted: str) -> None:
    assert wanted in roles(definition)[leaf]


@pytest.mark.parametrize(
    ("definition", "leaf", "unwanted"),
    [
        (tool("list_items", "List items", page=NUMBER), "page", "fetch-url"),
        (tool("http_get", "Send a request", url="", method=""), "method", "identifier"),
        (tool("list_files", "List files", page_token="Token of the next page"), "page_token", "identifier"),
        (tool("list_members", "List the members of a group", group="", members=NUMBER), "members", "recipient"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_near_misses_of_these_kinds(definition: dict[str, Any], leaf: str, unwanted: str) -> None:
    assert unwanted not in roles(definition)[leaf]


def test_what_a_list_in_the_description_says_of_an_argument_counts_to_the_end_of_its_entry() -> None:
    shown = "Show the scene.\n\n    - picture: Instead of the scene, show this one: a name\n      in the project, or a file path.\n"
    assert "read-path" in roles(tool("look", shown, picture=""))["picture"]
    other = (
        "Show the scene.\n\n    - picture: Instead of the scene, show this one.\n    - size: In pixels, no file path.\n"
    )
    assert "read-path" not in roles(tool("look", other, picture="", size=NUMBER))["picture"]


INTEGER = {"type": "integer"}
ACTIONS = {"type": "string", "enum": ["list", "remove"]}
FLAG_OR_FILE = {"type": ["boolean", "string"], "description": "True, or a file path to save the result to."}


@pytest.mark.parametrize(
    ("definition", "leaf", "wanted"),
    [
        (tool("push_note", "Send a note", ("target",), target="", text=""), "target", "recipient"),
        (tool("copy_list_to_user", "Copy a list to another user", list_id="", username=""), "username", "recipient"),
        (tool("forward_case", "Forward a case.", case_id="", forward=OBJECT), "forward", "recipient"),
        (tool("add_alert", "Create an alert", destination="Webhook URL or email address."), "destination", "recipient"),
        (tool("update_page", "Update a page of the site", page_id="", title="", excerpt=""), "excerpt", "outbound-content"),
        (tool("patch_case", "Update a case", case_id="", body=OBJECT), "body", "outbound-content"),
        (tool("refund", "Refund a payment", capture_id="", note_to_payer="A note."), "note_to_payer", "outbound-content"),
        (tool("drop_media", "Delete a medium", media_title="Title of the media to delete"), "media_title", "identifier"),
        (tool("read_entries", "Get entries", kind_type="The content type uid"), "kind_type", "identifier"),
        (tool("take_screenshot", "Take a screenshot", path=""), "path", "write-path"),
        (tool("image_to_text", "Convert an image", filepath="Absolute path of the image file"), "filepath", "read-path"),
        (tool("document_add_line", "Add a line to a document.", file_path="", line=""), "file_path", "read-path"),
        (tool("put_up", "Upload a local file over SFTP", local_path="", private_key_path="Path to a private key file"), "private_key_path", "read-path"),
        (tool("run_script", "Run a script in the page", script="", save_to=FLAG_OR_FILE), "save_to", "write-path"),
        (tool("sync", "Sync with a server", source='Path with a "local:" or "remote:" prefix'), "source", "read-path"),
        (tool("load_picture", "Load a picture into a scene", scene_path="Path to the scene file"), "scene_path", "write-path"),
        (tool("cleanup_download", "Clean up a downloaded file", path="File path to clean up"), "path", "delete-path"),
        (tool("list_models", "List models", action=ACTIONS, path="Path of a model file"), "path", "delete-path"),
        (tool("store", "Send images to a machine", ip_address="", port=NUMBER), "ip_address", "send-url"),
        (tool("drop_label", "Delete a label", ("index",), index=INTEGER), "index", "identifier"),
        (tool("create_rule", "Create a rule", name="", account=INTEGER), "account", "identifier"),
        (tool("move_part", "Move a part", part_path="Path of the part in the scene tree, for example Door/Hinge"), "part_path", "identifier"),
        (tool("create_invoice", "Create an invoice", entries=OBJECT), "entries", "amount"),
        (tool("add_alert", "Create an alert", rules={"type": "array", "items": {"type": "object", "properties": {"destination": {"type": "string"}}}}), "rules[].destination", "recipient"),
        (tool("execute_query", "Execute a query", xml_request=""), "xml_request", "command"),
        (tool("create_entry", "Create an entry", ("content_type",), content_type=""), "content_type", "identifier"),
        (tool("get_row", "Get a row", base_id_param=""), "base_id_param", "identifier"),
        (tool("build", "Build a model", structure="", topology={"type": "string", "default": "topol.top"}), "topology", "write-path"),
        (tool("plot", "Calculate a curve", workdir="", output="File to write"), "workdir", "write-path"),
        (tool("write_note", "Write a file", target_path="File path to write to", changes=OBJECT), "target_path", "read-path"),
        (tool("send_message", "Send a message", to="", api_url=""), "api_url", "send-url"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_floors_hold_where_no_rule_knows_the_word(definition: dict[str, Any], leaf: str, wanted: str) -> None:
    assert wanted in roles(definition)[leaf]


@pytest.mark.parametrize(
    ("definition", "leaf", "unwanted"),
    [
        (tool("send_email", "Send an email", to="", target=""), "target", "recipient"),
        (tool("get_user", "Get a user", username=""), "username", "recipient"),
        (tool("write_file", "Write a file", path="", content=""), "path", "read-path"),
        (tool("create_directory", "Create a directory", path=""), "path", "read-path"),
        (tool("read_file", "Read a file", path=""), "path", "write-path"),
        (tool("upload_file", "Upload a file", file_path=""), "file_path", "write-path"),
        (tool("set_theme", "Change the theme", key_path="Path to the private key file"), "key_path", "write-path"),
        (tool("add_rule", "Add a firewall rule", ip=""), "ip", "send-url"),
        (tool("set_grid", "Change the grid", ("page_key",), page_key="", columns=INTEGER), "columns", "identifier"),
        (tool("save_order", "Create an order", order=OBJECT, metadata=OBJECT), "metadata", "amount"),
        (tool("get_alert", "Get an alert", target=""), "target", "send-url"),
        (tool("list_emails", "List emails", mailbox="Mailbox path (default: INBOX)"), "mailbox", "read-path"),
        (tool("open_site", "Open a site", site={"type": "string", "default": "example.com"}), "site", "read-path"),
        (tool("list_pages", "List pages", title=""), "title", "outbound-content"),
        (tool("open_link", "Create a shared link", link_password="Password of the link"), "link_password", "fetch-url"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_floors_leave_near_misses_alone(definition: dict[str, Any], leaf: str, unwanted: str) -> None:
    assert unwanted not in roles(definition)[leaf]


def entry(definition: dict[str, Any], leaf: str) -> dict[str, Any]:
    fields: Any = one(definition).fields()
    found: dict[str, Any] = fields["args"][leaf]
    return found


def test_files_to_be_staged_lie_in_the_working_copy() -> None:
    commit = tool(
        "git_commit",
        "Commit",
        path="Path to the Git repository",
        filesToStage=LIST | {"description": "File paths to stage"},
    )
    assert entry(commit, "filesToStage")["relativeTo"] == "path"


def test_a_filter_of_files_left_out_means_the_directory_that_is_named() -> None:
    log = tool("git_log", "Show the history", repo_path="Path of the repository", file_path="Only this file")
    assert entry(log, "file_path")["absent"] == "nothing"
    alone = tool("read_log", "Read a log", file_path="The file, by default the system's log")
    assert entry(alone, "file_path")["absent"] == "unknown"


@pytest.mark.parametrize(
    ("definition", "leaf", "wanted"),
    [
        (tool("compare_files", "Compare two files.", ("left", "right"), left="", right=""), "left", "read-path"),
        (tool("list_files", "List files.", location=""), "location", "read-path"),
        (tool("read_multiple_files", "Read several files.", items=LIST), "items", "read-path"),
        (tool("tail_log", "Show the last lines of a log file.", log=""), "log", "read-path"),
        (tool("send_email", "Send an email.", ("to",), to=LIST, body="", observers=LIST), "observers", "recipient"),
        (tool("create_event", "Create an event", title="", people=LIST), "people", "recipient"),
        (tool("put_code", "Upload code into a script", script="", code=""), "code", "command"),
        (tool("add_issue", "Create an issue", title="", notified_user_ids=LIST), "notified_user_ids", "recipient"),
        (tool("update_room", "Update a room", room_id="", members_admin_ids=""), "members_admin_ids", "recipient"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_floors_for_files_and_people_that_no_word_names(definition: dict[str, Any], leaf: str, wanted: str) -> None:
    assert wanted in roles(definition)[leaf]


@pytest.mark.parametrize(
    ("definition", "leaf", "unwanted"),
    [
        (tool("get_file", "Get a file", file_id=""), "file_id", "read-path"),
        (tool("read_file", "Read a file", path="", note=""), "note", "read-path"),
        (tool("send_email", "Send an email.", ("to",), to=LIST, body="", tags=LIST), "tags", "recipient"),
        (tool("list_messages", "List messages", people=LIST), "people", "recipient"),
    ],
    ids=lambda value: value.get("name", "") if isinstance(value, dict) else "",
)  # fmt: skip
def test_near_misses_of_floors_for_files_and_people(definition: dict[str, Any], leaf: str, unwanted: str) -> None:
    assert unwanted not in roles(definition)[leaf]


@pytest.mark.parametrize("says", ["If not set, the file open in the editor", "Falls back to the home directory"])
def test_a_filter_whose_text_says_what_is_taken_instead_is_missed(says: str) -> None:
    found = tool("read_symbols", "Read the symbols of a file", project_path="Path of the project", file_path=says)
    assert entry(found, "file_path")["absent"] == "unknown"


def test_one_of_two_arguments_that_say_the_same_is_left_out_for_the_other() -> None:
    said = "The name, instead of recipient"
    fields = one(
        tool("send_attachment", "Send an attachment.", path="", paths=LIST, recipient="", username=said)
    ).fields()
    arguments: Any = fields["args"]
    assert arguments["path"]["absent"] == "nothing"
    assert arguments["username"]["absent"] == "nothing"


@pytest.mark.parametrize(
    ("name", "schema", "named"),
    [
        ("productNumber", {"type": "string", "description": "Product number, e.g. SW10001"}, True),
        ("part_number", {"type": "string"}, True),
        ("idx", {"type": "integer", "description": "Numeric idx; preferred over name when known"}, True),
        ("phone_number", {"type": "string"}, False),
    ],
)
def test_what_is_called_by_a_number_is_named(name: str, schema: dict[str, str], named: bool) -> None:
    definition = {
        "name": "get_stock",
        "description": "Get the stock.",
        "inputSchema": {"type": "object", "properties": {name: schema}},
    }
    assert ("identifier" in roles(definition)[name]) is named
