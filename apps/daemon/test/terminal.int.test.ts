import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { Signal } from '@sandyard/daemon-protocol/process/process_pb'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run, sh } from './support/collect.ts'
import { openTerminal, SIZE } from './support/terminal.ts'
import { asUser, failureOf, startDaemon, type TestDaemon } from './support/test-daemon.ts'

const O_CLOEXEC = 0o2000000

let daemon: TestDaemon

beforeAll(async () => {
  daemon = await startDaemon()
})
afterAll(() => daemon[Symbol.asyncDispose]())

const start = (command: readonly string[], pty: object = { size: SIZE }, options: object = {}) =>
  run(daemon, command, { request: { pty }, ...options })

async function isAlive(pid: number): Promise<boolean> {
  return readFile(`/proc/${pid}/stat`, 'utf8').then(
    (text) => !text.includes(') Z '),
    () => false,
  )
}

function isMaster(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`).endsWith('ptmx')
  } catch {
    return false
  }
}

describe('[process.Process/Start] on a terminal', () => {
  it('the process leads a session that the terminal controls, with the requested size and one output', async () => {
    const { pty, end, pid, kinds } = await start(sh('tty; stty size; cut -d " " -f 1,5,6,8 /proc/$$/stat; echo err >&2'))
    const lines = pty.split('\r\n')
    expect(lines[0]).toMatch(/^\/dev\/pts\/\d+$/)
    expect(lines.slice(1, 4)).toEqual(['30 100', `${pid} ${pid} ${pid} ${pid}`, 'err'])
    expect([end?.status, kinds]).toEqual(['exit status 0', ['start', 'pty', 'end']])
  })

  it.each([
    ['a missing size is 0 by 0', {}, '0 0\r\n'],
    ['each number is cut to 16 bits', { size: { cols: 65_537, rows: 70_000 } }, '4464 1\r\n'],
  ])('size: %s', async (_case, pty, shown) => {
    expect((await start(sh('stty size'), pty)).pty).toBe(shown)
  })

  it('the terminal belongs to the account, so that its programs can open it by name', async () => {
    const script = 'echo by name > "$(tty)"; echo again > /dev/stdout; stat -c %U "$(tty)"; exec < /dev/tty'
    expect((await start(sh(script), undefined, asUser('nobody'))).pty).toBe('by name\r\nagain\r\nnobody\r\n')
  })

  it('no other process inherits the terminal', async () => {
    const terminal = await openTerminal(daemon, 'echo ready; exec cat')
    await terminal.sees('ready')
    const script = 'ls -l /proc/self/fd | grep -c -e ptmx -e pts; exit 0'
    expect((await run(daemon, sh(script), { ...asUser('nobody') })).stdout).toBe('0\n')
    const masters = readdirSync('/proc/self/fd').filter((fd) => isMaster(fd))
    expect(masters.length).toBeGreaterThan(0)
    for (const fd of masters)
      expect(Number.parseInt(/flags:\s+(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8) & O_CLOEXEC).toBe(
        O_CLOEXEC,
      )
    await terminal.type('\x04')
    await terminal.ended
  })

  it.each([
    ['a missing directory', { cwd: '/nope' }, `cwd '/nope' does not exist`],
    [
      'a file as directory',
      { cwd: '/etc/passwd' },
      `error starting pty with command '/bin/sh -c a b' in dir '/etc/passwd' with '100' cols and '30' rows: fork/exec /bin/sh: not a directory`,
    ],
    [
      'a variable with NUL',
      { envs: { A: '\0' } },
      `error starting pty with command '/bin/sh -c a b' in dir '/' with '100' cols and '30' rows: exec: environment variable contains NUL`,
    ],
  ])('%s is refused', async (_case, config, message) => {
    expect(await failureOf(start(sh('a b'), undefined, { config }))).toEqual({ code: 'InvalidArgument', message })
  })

  it.each([
    ['written by the session leader', 'exec head -c 300000 /dev/zero'],
    ['written by other processes', 'head -c 300000 /dev/zero | cat; exit 7'],
  ])('every byte comes before the end, %s', { timeout: 60_000 }, async (_case, script) => {
    for (let round = 0; round < 30; round += 1) {
      const { pty, kinds } = await start(sh(script))
      expect([pty.length, kinds]).toEqual([300_000, ['start', 'pty', 'end']])
    }
  })

  it('output bytes are not decoded, so chunks may split characters (envd.md 18.69)', async () => {
    const { pty } = await start(sh('stty raw; i=0; while [ $i -lt 4000 ]; do printf "aä€𝄞"; i=$((i+1)); done'))
    expect(pty).toBe('aä€𝄞'.repeat(4000))
  })

  it('TERM and the locale come only from the request', async () => {
    const { pty } = await start(sh('echo "$TERM,$LANG"'), undefined, { config: { envs: { TERM: 'xterm-256color' } } })
    expect(pty).toBe('xterm-256color,\r\n')
  })
})

describe('[process.Process/SendInput] [process.Process/Update] at a terminal', () => {
  it('Ctrl-C interrupts the foreground program, and Ctrl-D ends the shell', async () => {
    const terminal = await openTerminal(daemon, 'exec bash --norc -i', { envs: { PS1: '$ ', PATH: '/usr/bin:/bin' } })
    await terminal.sees('$ ')
    await terminal.type('echo slee""ping; sleep 600\n')
    await terminal.sees('sleeping')
    await terminal.type('\x03')
    await terminal.type('echo status=$?\n')
    await terminal.sees('status=130')
    await terminal.type('\x04')
    expect(await terminal.ended).toBe('exit status 0')
  })

  it('job control works: programs can be stopped, listed and continued', async () => {
    const terminal = await openTerminal(daemon, 'exec bash --norc -i', { envs: { PS1: '$ ', PATH: '/usr/bin:/bin' } })
    await terminal.sees('$ ')
    await terminal.type('echo sta""rted; sleep 600\n')
    await terminal.sees('started')
    await terminal.type('\x1a')
    await terminal.sees('Stopped')
    await terminal.type('jobs; bg; jobs -r\n')
    await terminal.sees(/\[1\]\+ {2}Running/)
    await terminal.type('kill %1; wait; exit 3\n')
    expect(await terminal.ended).toBe('exit status 3')
  })

  it('a new size reaches the program', async () => {
    const terminal = await openTerminal(daemon, 'trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.01; done')
    await terminal.sees('ready')
    await daemon.process.update({ process: terminal.selector })
    await daemon.process.update({ process: terminal.selector, pty: { size: { cols: 65_536 + 81, rows: 25 } } })
    await terminal.ended
    expect(terminal.output().toString()).toBe('ready\r\n25 81\r\n')
  })

  it('ten megabytes of input arrive completely, and the daemon serves other calls meanwhile', { timeout: 60_000 }, async () => {
    const paste = Buffer.alloc(10_000_000, 'pasted text, line by line\n')
    const terminal = await openTerminal(daemon, 'stty raw -echo; echo ready; head -c 10000000 | sha256sum')
    await terminal.sees('ready')
    const typed = terminal.type(paste)
    expect((await daemon.process.list({})).processes.map(({ pid }) => pid)).toContain(terminal.pid)
    await Promise.all([typed, terminal.ended])
    expect(terminal.output().toString()).toContain(createHash('sha256').update(paste).digest('hex'))
  })

  it('input that the program does not read waits, and the program can be killed', async () => {
    const terminal = await openTerminal(daemon, 'stty raw -echo; echo ready; head -c 1 > /dev/null; echo begun; exec sleep 600')
    await terminal.sees('ready')
    const typed = failureOf(terminal.type(Buffer.alloc(1_000_000)))
    await terminal.sees('begun')
    await daemon.process.sendSignal({ process: terminal.selector, signal: Signal.SIGKILL })
    expect(await terminal.ended).toBe('signal: killed')
    expect((await typed).message).toBe(
      `error writing to tty: error writing to tty of process '${terminal.pid}': write /dev/ptmx: file already closed`,
    )
  })

  it('the foreground program gets SIGHUP when its shell is killed', async () => {
    const terminal = await openTerminal(daemon, 'exec bash --norc -i', { envs: { PS1: '$ ', PATH: '/usr/bin:/bin' } })
    await terminal.sees('$ ')
    await terminal.type("sh -c 'echo pid=$$.; exec sleep 600'\n")
    await terminal.sees(/pid=\d+\./)
    const child = Number(/pid=(\d+)\./.exec(terminal.output().toString())?.[1])
    await daemon.process.sendSignal({ process: terminal.selector, signal: Signal.SIGKILL })
    expect(await terminal.ended).toBe('signal: killed')
    await pollUntil({ what: 'the child to end', timeoutMs: 20_000, everyMs: 5 }, async () => !(await isAlive(child)) || undefined)
  })

  it('input for a pipe is refused (envd.md 18.73, 18.74, 18.75)', async () => {
    const terminal = await openTerminal(daemon, 'exec cat')
    const process = terminal.selector
    expect(await failureOf(daemon.process.closeStdin({ process }))).toEqual({
      code: 'Unknown',
      message: 'error closing stdin: cannot close stdin for PTY process — send Ctrl+D (0x04) instead',
    })
    expect(await failureOf(daemon.process.sendInput({ process, input: { input: { case: 'stdin', value: new Uint8Array(1) } } }))).toEqual({
      code: 'Internal',
      message: 'error writing to stdin: tty assigned to process — input should be written to the pty, not the stdin',
    })
    await terminal.type('\x04')
    expect(await terminal.ended).toBe('exit status 0')
  })
})

describe('[process.Process/Connect] to a terminal', () => {
  it('a second client gets the output of the same terminal', async () => {
    const terminal = await openTerminal(daemon, 'read -r line; echo "got $line"; exit 4')
    const events = daemon.process.connect({ process: terminal.selector })[Symbol.asyncIterator]()
    await events.next()
    await terminal.type('hello\n')
    let text = ''
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      const event = next.value.event?.event
      if (event?.case === 'data') text += Buffer.from(event.value.output.value ?? []).toString()
      if (event?.case === 'end') text += event.value.status
    }
    expect(text).toBe('hello\r\ngot hello\r\nexit status 4')
    expect(await terminal.ended).toBe('exit status 4')
  })
})
