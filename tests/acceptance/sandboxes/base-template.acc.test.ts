import { Sandbox } from 'e2b'
import { afterAll, beforeAll, expect, test } from 'vitest'

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await Sandbox.create()
})

afterAll(async () => {
  await sandbox.kill()
})

/** Commands that clients and their examples expect (clients.md 5, control-plane.md 11.2). */
const COMMANDS = [
  'bash curl file gcc g++ gh git jq less make node npm npx openssl pip pip3 pgrep ping ps python python3 rsync socat ss ssh ssh-keygen',
  'sudo tar tree unzip wget xz yarn zip chronyd fusermount3 iptables mount.nfs nft sshd',
].flatMap((line) => line.split(' '))

test('the base template has the commands that clients expect', async () => {
  const script = `for name in ${COMMANDS.join(' ')}; do command -v "$name" > /dev/null || echo "$name"; done`
  const missing = await sandbox.commands.run(script, { user: 'root' })
  expect(missing.stdout).toBe('')
})

test.each([
  [
    'runs as an account with bash, a home with skeleton files and sudo without a password',
    'id -un; echo $SHELL; pwd; ls -A; sudo -n id -un',
    ['user', '/bin/bash', '/home/user', '.bash_logout', '.bashrc', '.profile', 'root'],
  ],
  ['opens /dev/fuse to everybody where there is one', 'cat /etc/tmpfiles.d/fuse.conf', ['z /dev/fuse 0666 root root -']],
  ['lets the user write to /usr/local and /code', 'stat -c %a /usr/local /usr/local/bin /code', ['777', '777', '777']],
  ['has no keys of a host that all sandboxes share', 'ls /etc/ssh | grep ssh_host_ || echo none', ['none']],
  [
    'has Node 24 and npm from the registry, with a folder for global packages that the user may write',
    'node -p "process.version.split(\'.\')[0]"; npm --version | cut -d. -f1; npm root -g; test -w "$(npm root -g)" && echo writable',
    ['v24', '11', '/usr/local/lib/node_modules', 'writable'],
  ],
  ['makes virtual environments', 'python -m venv --without-pip /tmp/venv && /tmp/venv/bin/python -c "print(1)"', ['1']],
  [
    'has the folders that packages with manual pages link into',
    'ls -d /usr/share/man/man1 /usr/share/man/man7',
    ['/usr/share/man/man1', '/usr/share/man/man7'],
  ],
  ['compiles', 'echo "int main(){return 0;}" > /tmp/a.c && cc /tmp/a.c -o /tmp/a && /tmp/a && echo compiled', ['compiled']],
])('the base template %s', async (_, command, lines) => {
  expect((await sandbox.commands.run(command)).stdout.trimEnd().split('\n')).toEqual(lines)
})

test('the base template starts no processes', async () => {
  const { stdout } = await sandbox.commands.run('ps -eo comm= | sort -u')
  expect(stdout).not.toMatch(/sshd|chronyd|rpcbind|rpc\./)
})
