import { Agent } from 'node:http'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { type DaemonContainer, docker, startDaemonContainer } from './support/daemon-container.ts'
import { connectTo } from './support/process-client.ts'
import { exchange } from './support/http-exchange.ts'
import { unary } from './support/raw-rpc.ts'
import { asUser, failureOf } from './support/test-daemon.ts'

const LIMITS = ['--pids-limit', '100', '--memory', '256m', '--memory-swap', '256m']
let container: DaemonContainer
let caller: ReturnType<typeof connectTo>

beforeAll(async () => {
  container = await startDaemonContainer(LIMITS)
  caller = connectTo(container.url)
})
afterAll(() => container[Symbol.asyncDispose]())

const start = (script: string) => run(caller, sh(script), asUser('user'))
const health = async () => (await fetch(`${container.url}/health`)).status
const stat = async () => (await unary(container.url, 'filesystem.Filesystem/Stat', { path: '/tmp' })).status
const isRunning = () => docker('inspect', '--format', '{{.State.Running}}', container.name)
/** Signals every process that the account may signal. */
const KILL_ALL = 'kill -KILL -1'

describe('[process.Process/Start] in a sandbox at its limits', () => {
  it('a process that signals every process it may does not end the daemon', async () => {
    for (let round = 0; round < 100; round += 1) {
      const outcomes = await Promise.all([start(KILL_ALL), start('exit 0')])
      expect(outcomes[0].end?.status).toBe('exit status 0')
    }
    expect([await health(), await isRunning()]).toEqual([204, 'true'])
  })

  it('a fork bomb reaches the process limit, other starts fail with an error, and the daemon answers', async () => {
    const startBomb = async () => {
      const bomb = await begin(caller, sh('b() { b & b & wait; }; while :; do b; done'), { ...asUser('user'), request: { stdin: false } })
      return { pid: bomb.pid, end: collect(bomb.rest) }
    }
    const bombs = [await startBomb()]
    // The bomb sometimes frees a place, so some starts succeed.
    const refusal = await pollUntil({ what: 'a start to fail', timeoutMs: 60_000, everyMs: 1 }, async () => {
      expect([await health(), await stat()]).toEqual([204, 200])
      const { processes } = await caller.process.list({})
      // The first shell of a bomb ends when it can start nothing itself. Then the processes of the bomb soon end too.
      const isGoingOff = processes.some(({ pid }) => bombs.some((bomb) => bomb.pid === pid))
      if (!isGoingOff)
        await startBomb().then(
          (bomb) => bombs.push(bomb),
          () => undefined,
        )
      return start('exit 0').then(
        () => undefined,
        (error: unknown) => failureOf(Promise.reject(error as Error)),
      )
    })
    expect(refusal.code).toBe('InvalidArgument')
    expect(refusal.message).toBe("error starting process '/bin/sh -c exit 0': fork/exec /bin/sh: resource temporarily unavailable")

    await pollUntil({ what: 'a place for the process that ends the bomb', timeoutMs: 60_000, everyMs: 5 }, () =>
      start(KILL_ALL).then(
        () => true,
        () => undefined,
      ),
    )
    const ends = await Promise.all(bombs.map(({ end }) => end))
    expect(ends.map(({ stderr }) => stderr).join('')).toContain('Cannot fork')
    await expectUsable()
  })

  it('a process that takes all memory is killed, not the daemon', async () => {
    expect((await run(caller, ['tail', '/dev/zero'], asUser('user'))).end).toMatchObject({ exitCode: -1, status: 'signal: killed' })
    const inside = await start('tail /dev/zero; echo "$?"')
    expect(inside.stdout).toBe('137\n')
    await expectUsable()
    const scores = await run(
      caller,
      sh('cat /proc/self/oom_score_adj; for p in /proc/[0-9]*; do grep -qs daemon $p/cmdline && cat $p/oom_score_adj; done'),
    )
    expect(scores.stdout.split('\n').slice(0, 2)).toEqual(['100', '0'])
  })
})

describe('[process.Process/Start] without descriptors', () => {
  it('a start fails without leaving a process, and succeeds when descriptors are free again', async () => {
    await using small = await startDaemonContainer(['--ulimit', 'nofile=80:80'])
    const daemon = connectTo(small.url)
    // An open connection, because there may be no descriptor for a new one.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const call = async (method: string, body: object) => {
      const headers = { 'content-type': 'application/json', 'connect-protocol-version': '1' }
      const answer = await exchange(small.url, {
        method: 'POST',
        path: `/process.Process/${method}`,
        headers,
        body: JSON.stringify(body),
        agent,
      })
      return JSON.parse(answer.text) as { processes?: { pid: number }[] }
    }
    const live = async () => new Set((await call('List', {})).processes?.map(({ pid }) => pid))
    // A terminal takes several descriptors; each round lacks another one of them.
    for (let pipes = 0; pipes < 4; pipes += 1) {
      expect(await live()).toEqual(new Set())
      const pids = new Set<number>()
      for (let index = 0; index < pipes; index += 1) pids.add(await startAndLeave(daemon, { stdin: index % 2 === 0 }))
      // Without a descriptor for the account database the error is general; without one for the connection there is no answer.
      expect((await failureOf(fill(daemon, pids))).message).toMatch(
        /: too many open files$|: openpty\(3\) failed\.$|^internal error$|ECONNRESET|EPIPE|socket hang up/,
      )
      expect(await live()).toEqual(pids)
      await pollUntil({ what: 'the end of all other processes', timeoutMs: 20_000, everyMs: 10 }, async () => {
        const all = await docker('top', small.name, '-eo', 'pid,args')
        return all.split('\n').filter((line) => line.endsWith('sleep 600')).length === pids.size ? true : undefined
      })
      for (const pid of pids) await call('SendSignal', { process: { pid }, signal: 'SIGNAL_SIGKILL' })
      await pollUntil({ what: 'all to end', timeoutMs: 20_000, everyMs: 10 }, async () => ((await live()).size === 0 ? true : undefined))
    }
    expect((await run(daemon, ['echo', 'fine'])).stdout).toBe('fine\n')
    agent.destroy()
  })
})

/** Disconnects from the stream, because it takes a descriptor as well. */
async function startAndLeave(daemon: typeof caller, request: { stdin: boolean } | { pty: object }): Promise<number> {
  const leave = new AbortController()
  const { pid, rest } = await begin(daemon, ['sleep', '600'], { request, signal: leave.signal })
  leave.abort()
  await collect(rest).catch(() => undefined)
  return pid
}

async function fill(daemon: typeof caller, pids: Set<number>): Promise<never> {
  for (;;) pids.add(await startAndLeave(daemon, { pty: {} }))
}

async function expectUsable(): Promise<void> {
  expect([await health(), await stat(), await isRunning()]).toEqual([204, 200, 'true'])
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => start(`echo ${index}`)))
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(outcomes.map((_, index) => `${index}\n`))
  expect((await caller.process.list({})).processes).toEqual([])
}
