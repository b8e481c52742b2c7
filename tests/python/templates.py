"""Templates with the synchronous Python SDK: builds, their status and log, and their sandboxes."""

import os
import tempfile
import time
import traceback
import uuid

from e2b import (
    BuildException,
    Sandbox,
    SandboxException,
    Template,
    TemplateBuildStatus,
    TemplateException,
    wait_for_port,
)
from expecting import failure_of, finish

PATIENCE_SECONDS = 60
NAME = f"acc-python-{uuid.uuid4().hex[:10]}"

DOCKERFILE = f"FROM debian:bookworm-slim AS only\nENV RUN={NAME}" + """
ARG ROOT=/srv
ENV PLACE=${ROOT}/app \\
    OWNER=daemon
ENV DEEP=$PLACE/deep
COPY <<EOF /srv/app/greeting.txt
hello from ${PLACE}
a literal \\$PLACE
EOF
COPY --chmod=640 --chown=daemon file.txt $PLACE/
RUN <<EOF
set -e
mkdir -p "$DEEP"
cat > "$DEEP/inner.txt" <<INNER
inner of $DEEP
INNER
EOF
RUN ["/bin/sh", "-c", "echo 'exec form' > $DEEP/exec.txt"]
WORKDIR $DEEP
USER $OWNER
RUN echo "$(id -un) in $(pwd)"
"""


def build(template, name, **options):
    """Builds a template, and returns the SDK's result and the messages of the log."""
    messages = []
    info = Template.build(template, name, on_build_logs=lambda entry: messages.append(entry.message), **options)
    return info, messages


def output_of(messages):
    return [message.split("[stdout]: ", 1)[1] for message in messages if message.startswith("[builder ") and "[stdout]: " in message]


def run_in(reference, command):
    sandbox = Sandbox.create(reference)
    try:
        return sandbox.commands.run(command).stdout
    finally:
        sandbox.kill()


def main_path(context):
    template = (
        Template(file_context_path=context)
        .from_template("base")
        .set_envs({"GREETING": "Hello, World!", "RUN": NAME})
        .set_envs({"NESTED": "<$GREETING>"})
        .copy("file.txt", "closed.txt", mode=0)
        .copy("folder", "folder", user="root")
        .copy_items([{"src": "folder/*.txt", "dest": "picked/"}])
        .make_dir("site")
        .rename("picked/b.txt", "picked/c.txt")
        .make_symlink("c.txt", "picked/link")
        .remove("picked/a.txt")
        .set_workdir("/home/user/site")
        .run_cmd(['echo "$NESTED as $(id -un)"', "echo page > index.html"])
        .set_start_cmd("exec python3 -m http.server 8000", wait_for_port(8000))
    )
    info, messages = build(template, NAME, tags=["first"], cpu_count=1, memory_mb=512)
    assert (info.name, info.tags) == (NAME, ["first"]), info
    assert output_of(messages) == ["<Hello, World!> as user"], messages
    assert "Template is ready" in messages, messages

    sandbox = Sandbox.create(f"{NAME}:first")
    try:
        assert sandbox.commands.run("curl -s localhost:8000").stdout == "page\n"
        stat = "stat -c '%A %U %N' closed.txt folder folder/a.txt picked/*"
        listing = sandbox.commands.run(stat, cwd="/home/user", user="root").stdout
        assert listing.splitlines() == [
            "---------- user 'closed.txt'",
            "drwxr-xr-x root 'folder'",
            "-rw-r--r-- root 'folder/a.txt'",
            "-rw-r--r-- user 'picked/c.txt'",
            "lrwxrwxrwx user 'picked/link' -> 'c.txt'",
        ], listing
        found = sandbox.get_info()
        assert (found.cpu_count, found.memory_mb, found.template_id) == (1, 512, info.template_id), found
    finally:
        sandbox.kill()
    return info


def tags(info):
    assert Template.exists(NAME) is True
    assert Template.exists(f"{NAME}-not") is False
    refused = failure_of(SandboxException, lambda: Sandbox.create(NAME))
    assert f"tag 'default' does not exist for template '{NAME}'" in str(refused), refused
    assigned = Template.assign_tags(f"{NAME}:first", ["default", "stable"])
    assert (assigned.build_id, sorted(assigned.tags)) == (info.build_id, ["default", "stable"]), assigned
    found = Template.get_tags(NAME)
    assert [(tag.tag, tag.build_id) for tag in found] == [(tag, info.build_id) for tag in ("default", "first", "stable")], found
    assert all(tag.created_at.tzinfo is not None for tag in found), found
    Template.remove_tags(NAME, "stable")
    assert [tag.tag for tag in Template.get_tags(info.template_id)] == ["default", "first"]
    failure_of(TemplateException, lambda: Template.remove_tags(NAME, "default"))
    assert run_in(NAME, "pwd") == "/home/user/site\n"
    assert run_in(f"{NAME}:{info.build_id}", "echo $GREETING") == "Hello, World!\n"


def background():
    """A build in progress has the status `building`, a repeated build uses the cache, and a failed build names its step."""
    template = Template().from_template("base").run_cmd(f"echo from {NAME}")
    info = Template.build_in_background(template, f"{NAME}:background")
    status = Template.get_build_status(info)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while status.status is not TemplateBuildStatus.READY:
        assert status.status is TemplateBuildStatus.BUILDING, status
        assert time.monotonic() < deadline, status
        time.sleep(0.2)
        status = Template.get_build_status(info)
    assert (status.logs, status.reason) == ([], None), status
    assert f"[builder 1/1] [stdout]: from {NAME}" in [entry.message for entry in status.log_entries], status
    assert Template.get_build_status(info, logs_offset=len(status.log_entries)).log_entries == []

    _, messages = build(template, f"{NAME}:background")
    assert [message for message in messages if message.startswith("CACHED [builder 1/1] RUN ")], messages


def failing():
    bad = Template().from_template("base").run_cmd("echo fine")
    bad.run_cmd("exit 5")  # the line in the stack
    failure = failure_of(BuildException, lambda: build(bad, f"{NAME}:bad"))
    assert str(failure) == "failed to run command 'exit 5': exit status 5", failure
    lines = [frame.line for frame in traceback.extract_tb(failure.__traceback__)]
    assert 'bad.run_cmd("exit 5")  # the line in the stack' in lines, lines


def dockerfile(context):
    _, messages = build(Template(file_context_path=context).from_dockerfile(DOCKERFILE), f"{NAME}:dockerfile")
    assert output_of(messages)[-1] == "daemon in /srv/app/deep", messages
    command = "cat ../greeting.txt inner.txt exec.txt; stat -c '%a %U %n' ../file.txt; id -un; pwd; echo $DEEP"
    printed = run_in(f"{NAME}:dockerfile", command)
    assert printed.splitlines() == [
        "hello from /srv/app",
        "a literal $PLACE",
        "inner of /srv/app/deep",
        "exec form",
        "640 daemon ../file.txt",
        "daemon",
        "/srv/app/deep",
        "/srv/app/deep",
    ], printed


def main():
    with tempfile.TemporaryDirectory() as context:
        os.mkdir(os.path.join(context, "folder"))
        for name in ("file.txt", "folder/a.txt", "folder/b.txt"):
            with open(os.path.join(context, name), "w") as file:
                file.write(f"{name}\n")
        info = main_path(context)
        tags(info)
        background()
        failing()
        dockerfile(context)


main()
finish("templates done")
