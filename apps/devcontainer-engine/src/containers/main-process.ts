import { spawn, type ChildProcess } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { AppError } from '@sandyard/kit/errors/app-error'
import { identify, lives, type ProcessIdentity } from '../work/process-identity.ts'
import type { Container, MainProcess } from './container.ts'

/** In the environment of each proot of a container, so that a stop finds the processes of `exec` too. */
export const MARK = 'DEVCONTAINER_ENGINE_ID'

const POLL_MS = 50
const KILL_MS = 10_000

export async function isRunning({ main }: Container): Promise<boolean> {
  return main !== undefined && (await lives(main))
}

/** Starts the words in a session of their own, with the log as output. What an earlier start wrote goes: only `run` reads it. */
export async function startMain(
  words: readonly string[],
  { environment, log }: { environment: NodeJS.ProcessEnv; log: string },
): Promise<{ main: MainProcess; child: ChildProcess }> {
  const [program = '', ...args] = words
  await using file = await open(log, 'a', 0o600)
  await file.truncate()
  const child = spawn(program, args, { detached: true, cwd: '/', env: environment, stdio: ['ignore', file.fd, file.fd] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) => reject(new AppError('internal', `${program} cannot be started: ${cause.message}`, { cause })))
  })
  const identity = await identify(child.pid ?? 0)
  if (identity === undefined) throw new AppError('failed_precondition', 'The dev container ended at once')
  return { main: { ...identity, startedAt: new Date().toISOString() }, child }
}

/** Asks the main process to end, and ends all processes of the container when the grace is over. */
export async function stopAll(container: Container, graceMs: number): Promise<void> {
  const { main } = container
  if (main !== undefined && graceMs > 0 && (await lives(main))) {
    // The tracer holds SIGTERM back; its child is the main process of the container.
    for (const pid of await childrenOf(main.pid)) signal(pid, 'SIGTERM')
    const endMs = performance.now() + graceMs
    while ((await lives(main)) && performance.now() < endMs) await delay(POLL_MS)
  }
  const marked = await findMarked(container.id)
  for (const { pid } of marked) signal(pid, 'SIGKILL')
  for (const one of marked) {
    const what = `the end of process ${one.pid} of the dev container`
    await pollUntil({ what, timeoutMs: KILL_MS, everyMs: POLL_MS }, async () => ((await lives(one)) ? undefined : true))
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

async function findMarked(id: string): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return environment.split('\0').includes(`${MARK}=${id}`)
    }),
  )
  const found = await Promise.all(pids.filter((_, index) => marked[index]).map((pid) => identify(Number(pid))))
  return found.filter((one) => one !== undefined)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
