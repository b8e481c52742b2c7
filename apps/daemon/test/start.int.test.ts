import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noRoot } from './support/absences.ts'
import { run, sh } from './support/collect.ts'
import { asUser, failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

let daemon: TestDaemon
const folder = mkdtempSync(join(tmpdir(), 'daemon-start-'))

beforeAll(async () => {
  daemon = await startDaemon({ PATH: '/usr/local/bin:/usr/bin:/bin' })
})
afterAll(() => daemon[Symbol.asyncDispose]())

describe('[process.Process/Start] how processes end (envd.md 18.65, 18.66)', () => {
  it.each([
    ['exit 0', { exitCode: 0, exited: true, status: 'exit status 0', error: undefined }],
    ['exit 3', { exitCode: 3, exited: true, status: 'exit status 3', error: 'exit status 3' }],
    ['kill -KILL $$', { exitCode: -1, exited: false, status: 'signal: killed', error: 'signal: killed' }],
    ['kill -TERM $$', { exitCode: -1, exited: false, status: 'signal: terminated', error: 'signal: terminated' }],
    ['kill -40 $$', { exitCode: -1, exited: false, status: 'signal: signal 40', error: 'signal: signal 40' }],
    ['kill -PIPE $$', { exitCode: -1, exited: false, status: 'signal: broken pipe', error: 'signal: broken pipe' }],
  ])('%s', async (script, end) => {
    expect((await run(daemon, sh(script))).end).toEqual(end)
  })

  it('a command that is missing, not executable or empty ends with the exit code of the shell (envd.md 18.54)', async () => {
    const [missing, refused, nameless] = [
      await run(daemon, ['no-such-command']),
      await run(daemon, ['/etc/passwd']),
      await run(daemon, ['']),
    ]
    expect([missing.end?.exitCode, refused.end?.exitCode, nameless.end?.exitCode]).toEqual([127, 126, 127])
    expect(missing.kinds).toEqual(['start', 'stderr', 'end'])
    expect(missing.stderr).toContain('no-such-command')
  })

  it('the stream ends when the last process closes the output (envd.md 18.63)', async () => {
    const outcome = await run(daemon, sh('{ sleep 0.3; echo late; } & echo early'))
    expect(outcome).toMatchObject({ stdout: 'early\nlate\n', end: { exitCode: 0 } })
  })

  it('no output is lost (envd.md 18.70)', async () => {
    for (let round = 0; round < 20; round += 1) {
      const outcome = await run(daemon, sh('head -c 300000 /dev/zero | tr "\\0" a; head -c 300000 /dev/zero | tr "\\0" b >&2; exit 7'))
      expect([outcome.stdout.length, outcome.stderr.length, outcome.end?.exitCode], `round ${round}`).toEqual([300_000, 300_000, 7])
    }
  })
})

describe('[process.Process/Start] a process gets', () => {
  it('its own environment, with only PATH from the daemon (envd.md 18.57)', async () => {
    const { stdout } = await run(daemon, ['/usr/bin/env'], { config: { envs: { A: '1 2', HOME: '/elsewhere' } } })
    const { PWD: _, ...variables } = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    )
    expect(variables).toEqual({
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: '/elsewhere',
      USER: 'root',
      LOGNAME: 'root',
      E2B_SANDBOX: 'true',
      A: '1 2',
    })
  })

  it('its arguments unchanged, and its command from its own PATH (envd.md 18.57, 18.58)', async () => {
    const tool = join(folder, 'own-tool')
    writeFileSync(tool, '#!/bin/sh\nprintf "%s|" "$@"\n')
    chmodSync(tool, 0o755)
    const { stdout } = await run(daemon, ['own-tool', '', '$HOME; *', 'a \'b\' "c"', '-x', 'é\n'], { config: { envs: { PATH: folder } } })
    expect(stdout).toBe('|$HOME; *|a \'b\' "c"|-x|é\n|')
  })

  it('real pipes, no other descriptor and default signals (envd.md 18.59)', async () => {
    const script = 'echo out >/dev/stdout; echo err >/dev/stderr; grep -E "SigIgn|SigBlk" /proc/self/status; cat /proc/self/oom_score_adj'
    const { stdout, stderr } = await run(daemon, sh(script))
    expect(stderr).toBe('err\n')
    expect(stdout).toMatch(/^out\nSigBlk:\s0+\nSigIgn:\s0+\n\d+\n$/)
    expect(Number(stdout.trim().split('\n').at(-1))).toBeGreaterThanOrEqual(100)
    // Also no inherited descriptor without close-on-exec. 3 is the directory that `ls` reads.
    expect((await run(daemon, sh('ls /proc/self/fd'))).stdout).toBe('0\n1\n2\n3\n')
  })

  it('end of file at once without `stdin`, an open pipe with it (envd.md 18.60)', async () => {
    expect((await run(daemon, sh('read x; echo $?'))).stdout).toBe('1\n')
    const started = await run(daemon, sh('sleep 0.2; test -p /dev/stdin && echo pipe'), { request: { stdin: true } })
    expect(started.stdout).toBe('pipe\n')
  })

  it('the requested directory, resolved for its user', async () => {
    expect((await run(daemon, ['pwd'], { config: { cwd: '~' } })).stdout).toBe('/root\n')
    expect((await run(daemon, ['pwd'], { config: { cwd: '../tmp' } })).stdout).toBe('/tmp\n')
  })
})

describe('[process.Process/Start] identity', () => {
  beforeEach(({ skip }) => skip(noRoot !== undefined, noRoot))

  it('is the identity of the account, and the daemon keeps its own', async () => {
    const facts = 'grep -E "^(Uid|Gid|Groups|CapPrm|CapEff|CapAmb):" /proc/self/status'
    const { stdout } = await run(daemon, sh(facts), asUser('nobody'))
    expect(stdout.replaceAll(/[\t ]+/g, ' ')).toBe(
      'Uid: 65534 65534 65534 65534\nGid: 65534 65534 65534 65534\nGroups: 65534 \nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapAmb: 0000000000000000\n',
    )
    expect([process.getuid?.(), process.geteuid?.(), process.getegid?.()]).toEqual([0, 0, 0])
    const streams = await run(daemon, sh('echo out >/dev/stdout; echo err >/dev/stderr; cat /dev/stdin'), asUser('nobody'))
    expect([streams.stdout, streams.stderr, streams.end?.exitCode]).toEqual(['out\n', 'err\n', 0])
    expect((await run(daemon, ['id', '-u'])).stdout).toBe('0\n')
  })

  it('decides whether the process may enter its directory (envd.md 18.55)', async () => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    expect(await failureOf(run(daemon, ['ls', '-l'], { config: { cwd: closed }, ...asUser('nobody') }))).toEqual({
      code: 'InvalidArgument',
      message: "error starting process 'ls -l': fork/exec /bin/sh: permission denied",
    })
    expect((await run(daemon, ['pwd'], { config: { cwd: closed } })).end?.exitCode).toBe(0)
  })

  it('is right for concurrent starts of several accounts', async () => {
    const users = Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'nobody' : 'root'))
    const names = await Promise.all(users.map(async (user) => (await run(daemon, ['id', '-un'], asUser(user))).stdout.trim()))
    expect(names).toEqual(users)
  })
})

describe('[process.Process/Start] a start is refused for (envd.md 18.54)', () => {
  it.each([
    ['a missing directory', { cmd: 'ls', cwd: '/nope' }, 'InvalidArgument', "cwd '/nope' does not exist"],
    [
      'a file as directory',
      { cmd: 'ls', args: ['a b'], cwd: '/etc/passwd' },
      'InvalidArgument',
      "error starting process 'ls a b': fork/exec /bin/sh: not a directory",
    ],
    [
      'the home of another user',
      { cmd: 'ls', cwd: '~x' },
      'InvalidArgument',
      "failed to expand path '~x' for user 'root': cannot expand user-specific home dir",
    ],
    [
      'a NUL in a variable',
      { cmd: 'ls', envs: { A: '\0' } },
      'InvalidArgument',
      "error starting process 'ls': exec: environment variable contains NUL",
    ],
    [
      'a NUL in an argument',
      { cmd: 'ls', args: ['\0'] },
      'InvalidArgument',
      "error starting process 'ls \0': fork/exec /bin/sh: invalid argument",
    ],
  ])('%s', async (_, config, code, message) => {
    expect(await failureOf(run(daemon, [], { config }))).toEqual({ code, message })
  })

  it('arguments that are too long for the kernel', async () => {
    for (const length of [200_000, 3_000_000]) {
      const failure = await failureOf(run(daemon, ['true', 'x'.repeat(length)]))
      expect(failure.code).toBe('InvalidArgument')
      expect(failure.message).toMatch(/: fork\/exec \/bin\/sh: argument list too long$/)
    }
  })

  it('an unknown user, named or by default', async () => {
    expect(await failureOf(run(daemon, ['true'], asUser('nobody-here')))).toEqual({
      code: 'Unauthenticated',
      message: "invalid username: 'nobody-here'",
    })
    await using other = await startDaemon()
    other.context.state.defaultUser = 'gone'
    expect(await failureOf(run(other, ['true']))).toEqual({ code: 'Unauthenticated', message: "invalid default user: 'gone'" })
  })

  it('any of these reasons without leaving a process', async () => {
    expect((await daemon.process.list({})).processes).toEqual([])
  })
})
