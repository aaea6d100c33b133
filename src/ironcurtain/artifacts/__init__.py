"""Files of the policy and the configuration: read strictly, checked, and turned into what the engine works with.

- `files` opens a file only if nobody else could have written it; `item` reads values and knows where they stand.
- `rules`, `lists`, `annotations`, `config`, `scenarios`: one format each, as `docs/formats.md` has it.
- `policy` puts a directory of them together; `shipped` is the default policy; `active` is the home's own, which never
  goes back to an older version; `verify` runs scenarios and stamps; `original` brings in files of the original project.

INVARIANT: a policy that is edited, half-written, unverified or of unclear meaning is no policy.
"""
