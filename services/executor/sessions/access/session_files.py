"""The files that a session's sshd reads: its configuration, its host key, and the people's keys; all made by us."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from services.executor.sessions.gang.gang import Gang
from services.executor.sessions.gang.ports import SSH_PORT
from vocabulary.ssh_keys import Key, authorized_keys

USER = "dev"
HOME = "/home/dev"
WORKSPACE = "/workspace"
"""A folder that is removed at the session's end."""
SHELL = "/bin/bash"
IN_SANDBOX = Path("/session")
"""Where the sandbox has the folder, read-only."""
KEEP = IN_SANDBOX / "keep"
"""What gives people a shell that outlives their connection; the client has the path, too (`ssh/visits.py`)."""
COMMAND = IN_SANDBOX / "command.json"
"""How the image's own command is started, if it is."""
COMMAND_OUTPUT = f"{WORKSPACE}/entrypoint.log"
SUPERVISOR = Path(__file__).with_name("sandboxed") / "supervisor.py"
_KEYS = f"""\
HostKey {IN_SANDBOX}/host_key
AuthorizedKeysFile {IN_SANDBOX}/authorized_keys
"""
_NODES_KEYS = f"""\
HostKey {IN_SANDBOX}/node_key
AuthorizedKeysFile {IN_SANDBOX}/node_authorized_keys
"""
_CONFIG = f"""\
PidFile none
LogLevel INFO
# Our files belong to a user whom sshd does not expect. They are safe because the sandbox cannot write them.
StrictModes no
UsePAM no
AuthenticationMethods publickey
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
HostbasedAuthentication no
PermitRootLogin no
PermitEmptyPasswords no
AllowUsers {USER}
PermitUserEnvironment no
ExposeAuthInfo yes
AcceptEnv LANG LC_* WAVEPOOL_*
ClientAliveInterval 30
ClientAliveCountMax 10
LoginGraceTime 60
X11Forwarding no
PermitTunnel no
PrintMotd no
PrintLastLog no
UseDNS no
Subsystem sftp internal-sftp
"""
# What sshd starts in place of the shell. It says whose key was used, which sshd names in a file: sshd itself sets
# variables for a key only if it takes them from ~/.ssh/environment, too. Without arguments it is a login shell.
_SHELL = f"""\
#!/bin/sh
_user=
if [ -r "$SSH_USER_AUTH" ] && read -r _how _type _key <"$SSH_USER_AUTH"; then
    while read -r _is _own _whose; do
        if [ "$_is $_own" = "$_type $_key" ]; then _user=$_whose; fi
    done <{IN_SANDBOX}/authorized_keys
    if [ -r {IN_SANDBOX}/node_authorized_keys ] && read -r _is _own <{IN_SANDBOX}/node_authorized_keys; then
        if [ "$_is $_own" = "$_type $_key" ]; then _user=$WAVEPOOL_USER; fi
    fi
fi
unset SSH_USER_AUTH
export WAVEPOOL_USER="$_user" SHELL={{shell}}
if [ $# = 0 ]; then exec {{shell}} -l; fi
exec {{shell}} "$@"
"""
_TERMINAL = """\
# A terminal that this machine does not know would leave programs without cursor and colours.
case "$TERM" in
'' | dumb) ;;
*)
    _found=
    for _folder in ~/.terminfo /etc/terminfo /lib/terminfo /usr/share/terminfo; do
        [ -e "$_folder/${TERM%"${TERM#?}"}/$TERM" ] && _found=yes
    done
    [ "$_found" ] || export TERM=xterm-256color
    unset _found _folder
    ;;
esac
"""
# Read by login shells, so by people at a terminal: neither by `ssh HOST COMMAND` nor by sftp.
_PROFILE = (
    f"""\
export LANG="${{LANG:-C.UTF-8}}"
{_TERMINAL}"""
    """\
if [ -n "$BASH_VERSION" ]; then
    PS1='\\u@\\h:\\w\\$ '
    [ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
fi
if [ -t 1 ]; then
    cat /session/welcome
    _minutes=$((($(cat /session/end) - $(date +%s)) / 60))
    printf '  ends       %s, in %d h %02d min; for more time: wavepool extend HOURS, where you reserved\\n\\n' \\
        "$(date -d "@$(cat /session/end)" '+%F %H:%M %Z')" $((_minutes / 60)) $((_minutes % 60))
    unset _minutes
fi
# People expect it to be read; bash itself reads it only if the shell is no login shell. The last test must not be the
# last command: a shell that is left at once has its status.
if [ -n "$BASH_VERSION" ] && ! [ -e ~/.bash_profile ] && ! [ -e ~/.bash_login ] && ! [ -e ~/.profile ]; then
    if [ -r ~/.bashrc ]; then . ~/.bashrc; fi
fi
"""
)
# `keep NAME [again]`: a login shell that outlives its connection, in a tmux of its own; with the same NAME, back to it.
# The empty lines scroll what is on the terminal out of tmux's way. An image may describe no terminals and no locales.
_KEEP = (
    f"""\
#!/bin/sh
_kept=/tmp/wavepool-shell-$1
_tmux="tmux -u -S $_kept/tmux -f {IN_SANDBOX}/tmux.conf"
_why='nothing of it is left'
{_TERMINAL}"""
    """\
if [ -d /.wavepool ]; then
    export LOCPATH=/.wavepool/usr/lib/locale TERMINFO_DIRS=/etc/terminfo:/lib/terminfo:/usr/share/terminfo
    TERMINFO_DIRS=$TERMINFO_DIRS:/.wavepool/usr/lib/terminfo:/.wavepool/usr/share/terminfo
fi
if ! [ -e "$_kept/status" ] && ! $_tmux has-session 2>/dev/null; then
    command -v tmux >/dev/null || { _tmux=; _why='there is no tmux here, which would have kept it'; }
    [ "$2" ] && printf 'wavepool: this is a new shell; the one before is gone: %s\\n' "$_why" >&2
    [ "$_tmux" ] || exec "$SHELL" -l
    mkdir -p -m 700 "$_kept"
fi
if [ -S "$SSH_AUTH_SOCK" ]; then
    ln -sfn "$SSH_AUTH_SOCK" "$_kept/agent"
    export SSH_AUTH_SOCK="$_kept/agent"
fi
if ! [ -e "$_kept/status" ]; then
    printf '\\n%.0s' $(seq "$(stty size | cut -d ' ' -f 1)")
    if $_tmux has-session 2>/dev/null; then
        $_tmux attach-session -d >/dev/null
    else
        _shell='unset TMUX TMUX_PANE LOCPATH TERMINFO_DIRS; "$SHELL" -l; echo $? >"$0/status"'
        $_tmux new-session /bin/sh -c "$_shell" "$_kept" >/dev/null
    fi
fi
_status=$(cat "$_kept/status" 2>/dev/null) && rm -r "$_kept"
exit "${_status:-1}"
"""
)
# Nobody is to notice it: no keys of its own, no line of its own, and the terminal scrolls as without it.
_TMUX = """\
set -g prefix None
unbind -a
unbind -a -T root
set -g status off
set -s escape-time 0
set -s set-clipboard on
set -g default-terminal tmux-256color
set -ga terminal-overrides ',*:smcup@:rmcup@'
set -g update-environment ''
"""
# For connections to other nodes. What people have in their own ~/.ssh/config counts more.
_CLIENT_CONFIG = f"""\
Host {{names}}
    User {USER}
    Port {SSH_PORT}
    IdentityFile {IN_SANDBOX}/node_key
    IdentitiesOnly yes
    HostKeyAlias {{alias}}
    GlobalKnownHostsFile {IN_SANDBOX}/node_known_hosts
    UserKnownHostsFile none
    StrictHostKeyChecking yes
    SendEnv WAVEPOOL_USER
"""
_NODES_ALIAS = "wavepool-node"
NODES_CONFIG = IN_SANDBOX / "sshd_config_nodes"
"""Configuration of an sshd for a connection from another node."""
LOADER = IN_SANDBOX / "ld.so"
"""What starts the programs of `write_programs_of_sshd`."""
_PRIVATE_FILE = 0o600
_PUBLIC_FILE = 0o644
_PROGRAM = 0o755


@dataclass(frozen=True)
class SessionFiles:
    """The folder with a session's files; only our user may enter the folder around it."""

    folder: Path

    def write(
        self,
        keys: Iterable[Key],
        environment: Mapping[str, str],
        accounts_id: int,
        host_name: str,
        *,
        nameserver: IPv4Address | None = None,
        gang: Gang | None = None,
        shell: str = SHELL,
    ) -> str:
        """Write all files and return the public host key; the private half is in the folder and nowhere else.

        `accounts_id` is the number of the sandbox's user and group, inside. `nameserver` is None without a network, and
        `gang` for a session that is alone.
        """
        self.folder.mkdir(mode=0o755)
        public = self._write_private_key("host_key", Ed25519PrivateKey.generate())
        self._text("sshd_config", _KEYS + _CONFIG + _set_env(environment))
        if gang is not None and gang.ssh_seed:
            self._write_nodes_keys(gang, environment)
        self.write_keys(keys)
        self._text("passwd", f"{USER}:x:{accounts_id}:{accounts_id}:{USER}:{HOME}:{IN_SANDBOX}/shell\n")
        _write(self.folder / "shell", _SHELL.format(shell=shlex.quote(shell)).encode(), _PROGRAM)
        _write(self.folder / KEEP.name, _KEEP.encode(), _PROGRAM)
        self._text("tmux.conf", _TMUX)
        # With a group `tty`, an sshd that is not root cannot make terminals.
        self._text("group", f"{USER}:x:{accounts_id}:\n")
        # The machine's own would set another PATH for login shells.
        self._text("profile", _PROFILE)
        self._text("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
        self._text("resolv.conf", f"nameserver {nameserver}\n" if nameserver else "")
        own = "" if gang else f" {host_name}"
        self._text("hosts", f"127.0.0.1 localhost{own}\n::1 localhost\n" + (gang.hosts(host_name) if gang else ""))
        shutil.copyfile(SUPERVISOR, self.folder / "supervisor.py")
        (self.folder / "supervisor.py").chmod(_PUBLIC_FILE)
        return public

    def write_program(self, name: str, script: str) -> None:
        """Add a program in the folder `bin`."""
        (self.folder / "bin").mkdir(exist_ok=True)
        _write(self.folder / "bin" / name, script.encode(), _PROGRAM)

    def write_programs_of_sshd(self, programs: Mapping[str, tuple[str, bytes]], loader: bytes) -> None:
        """Add what sshd starts by itself, as name and content under the options that say where, and its loader."""
        _write(self.folder / LOADER.name, loader, _PROGRAM)
        for name, content in programs.values():
            _write(self.folder / name, content, _PROGRAM)
        lines = "".join(f"{option} {IN_SANDBOX}/{name}\n" for option, (name, _) in programs.items())
        for config in (self.folder / "sshd_config", self.folder / NODES_CONFIG.name):
            if config.exists():
                self._text(config.name, lines + config.read_text("utf-8"))

    def write_command(self, words: Sequence[str], folder: str, environment: Mapping[str, str]) -> None:
        """Write how the image's own command is started."""
        command = {"words": words, "folder": folder, "environment": environment, "output": COMMAND_OUTPUT}
        self._text(COMMAND.name, json.dumps(command))

    def write_keys(self, keys: Iterable[Key]) -> None:
        """Replace the people's keys at once; sshd reads them for each connection."""
        self._text("authorized_keys", authorized_keys(keys))

    def write_hostfile(self, text: str) -> None:
        """Write the nodes of a gang as launchers read them."""
        self._text("hostfile", text)

    def write_welcome(self, text: str) -> None:
        """Write what people read at their login."""
        self._text("welcome", text)

    def write_end(self, end_time: datetime) -> None:
        """Replace the end of the session, as login shells show it."""
        self._text("end", f"{end_time.timestamp():.0f}\n")

    def give_host_key_to(self, uid: int) -> None:
        """Let the sandbox's user read the host keys, as sshd insists on an owner that is alone."""
        for name in ("host_key", "node_key"):
            if (self.folder / name).exists():
                os.chown(self.folder / name, uid, -1)

    def _write_nodes_keys(self, gang: Gang, environment: Mapping[str, str]) -> None:
        """Write the key that all nodes have, by which each lets the others in and knows them."""
        public = self._write_private_key("node_key", Ed25519PrivateKey.from_private_bytes(gang.ssh_seed))
        self._text("node_authorized_keys", f"{public}\n")
        self._text("node_known_hosts", f"{_NODES_ALIAS} {public}\n")
        self._text(NODES_CONFIG.name, _NODES_KEYS + _CONFIG + _set_env(environment))
        names = " ".join(node.name for node in gang.nodes)
        self._text("ssh_config", _CLIENT_CONFIG.format(names=names, alias=_NODES_ALIAS))

    def _write_private_key(self, name: str, private: Ed25519PrivateKey) -> str:
        """Write a private key as sshd reads it; returns the public one."""
        key = private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        _write(self.folder / name, key, _PRIVATE_FILE)
        return private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()

    def _text(self, name: str, text: str) -> None:
        new = self.folder / f".{name}.new"
        _write(new, text.encode(), _PUBLIC_FILE)
        new.replace(self.folder / name)


def _write(path: Path, content: bytes, mode: int) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)


def _set_env(environment: Mapping[str, str]) -> str:
    """One line, as sshd looks at the first `SetEnv` only."""
    words = (f"{name}={value}" for name, value in environment.items())
    quoted = ('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in words)
    return f"SetEnv {' '.join(quoted)}\n" if environment else ""
