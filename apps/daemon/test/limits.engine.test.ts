import { pollUntil } from '@sandyard/kit/async/poll-until'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begin, collect, run, sh } from './support/collect.ts'
import { type DaemonContainer, docker, startDaemonContainer } from './support/daemon-container.ts'
import { connectTo } from './support/process-client.ts'
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
/** Signals everything that the account may signal. */
const KILL_ALL = 'kill -KILL -1'

describe('[process.Process/Start] in a sandbox at its limits', () => {
  it('a process that signals everything it may does not reach the daemon, which starts it as its account', async () => {
    for (let round = 0; round < 100; round += 1) {
      const outcomes = await Promise.all([start(KILL_ALL), start('exit 0')])
      expect(outcomes[0].end?.status).toBe('exit status 0')
    }
    expect([await health(), await isRunning()]).toEqual([204, 'true'])
  })

  it('a fork bomb is told that there are no more processes, others that they cannot start, and the daemon answers', async () => {
    const bomb = await begin(caller, sh('b() { b & b & wait; }; while :; do b; done'), { ...asUser('user'), request: { stdin: false } })
    const end = collect(bomb.rest)
    // A bomb frees a place now and then, so that some get through.
    const refusal = await pollUntil({ what: 'a start to fail', timeoutMs: 60_000, everyMs: 1 }, async () => {
      expect([await health(), await stat()]).toEqual([204, 200])
      expect((await caller.process.list({})).processes.map(({ pid }) => pid)).toContain(bomb.pid)
      return start('exit 0').then(
        () => undefined,
        (error: unknown) => failureOf(Promise.reject(error as Error)),
      )
    })
    expect(refusal.code).toBe('InvalidArgument')
    expect(refusal.message).toBe("error starting process '/bin/sh -c exit 0': fork/exec /bin/sh: resource temporarily unavailable")

    await pollUntil({ what: 'a place for who ends the bomb', timeoutMs: 60_000, everyMs: 5 }, () =>
      start(KILL_ALL).then(
        () => true,
        () => undefined,
      ),
    )
    expect((await end).stderr).toContain('Cannot fork')
    await expectUsable()
  })

  it('what takes all memory is killed, not the daemon', async () => {
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

async function expectUsable(): Promise<void> {
  expect([await health(), await stat(), await isRunning()]).toEqual([204, 200, 'true'])
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => start(`echo ${index}`)))
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(outcomes.map((_, index) => `${index}\n`))
  expect((await caller.process.list({})).processes).toEqual([])
}
