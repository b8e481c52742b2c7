"""The main job by a client that openapi-python-client made of /openapi.json; PYTHONPATH names the folder with the package `generated`."""

import os

from generated import AuthenticatedClient
from generated.api.api_keys import list_api_keys
from generated.api.sandboxes import (
    connect_sandbox,
    create_sandbox_v2,
    get_sandbox,
    kill_sandbox,
    list_sandboxes_v2,
    pause_sandbox,
    set_sandbox_timeout,
)
from generated.api.teams import list_teams
from generated.api.templates import list_templates_v2
from generated.models import ConnectSandbox, Error, NewSandboxV2, PauseSandbox, Sandbox, SandboxMetadata, SandboxState, SandboxTimeout

URL = os.environ["API_URL"]
MARK = os.environ["MARK"]
api = AuthenticatedClient(base_url=URL, token=os.environ["API_KEY"], prefix="", auth_header_name="X-API-Key")
user = AuthenticatedClient(base_url=URL, token=os.environ["ACCESS_TOKEN"])

metadata = SandboxMetadata()
metadata["mark"] = MARK
created = create_sandbox_v2.sync(client=api, body=NewSandboxV2(template_id="base", timeout=120, metadata=metadata))
assert isinstance(created, Sandbox), created
sandbox_id = created.sandbox_id

listed = list_sandboxes_v2.sync(client=api, metadata=f"mark={MARK}", limit=10)
assert isinstance(listed, list) and [item.sandbox_id for item in listed] == [sandbox_id], listed

detail = get_sandbox.sync(sandbox_id, client=api)
assert detail.state == SandboxState.RUNNING and detail.metadata["mark"] == MARK and detail.cpu_count > 0, detail

assert set_sandbox_timeout.sync_detailed(sandbox_id, client=api, body=SandboxTimeout(timeout=300)).status_code == 204

assert pause_sandbox.sync_detailed(sandbox_id, client=api, body=PauseSandbox()).status_code == 204
assert get_sandbox.sync(sandbox_id, client=api).state == SandboxState.PAUSED

connected = connect_sandbox.sync(sandbox_id, client=api, body=ConnectSandbox(timeout=120))
assert connected.sandbox_id == sandbox_id, connected

assert isinstance(list_templates_v2.sync(client=api, limit=100), list)

[team] = [team for team in list_teams.sync(client=user) if team.is_default]
keys = list_api_keys.sync(client=user.with_headers({"X-Team-ID": str(team.team_id)}))
assert isinstance(keys, list), keys

assert kill_sandbox.sync_detailed(sandbox_id, client=api).status_code == 204
gone = get_sandbox.sync(sandbox_id, client=api)
assert isinstance(gone, Error) and gone.code == 404 and sandbox_id in gone.message, gone
print("main job done")
