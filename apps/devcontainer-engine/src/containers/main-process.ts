import { spawn, type ChildProcess } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Container, MainProcess } from './container.ts'

/** In the environment of each proot of a container, so that a stop finds the processes of `exec` too. */
export const MARK = 'DEVCONTAINER_ENGINE_ID'

const POLL_MS = 50

export function isRunning({ main }: Container): Promise<boolean> | false {
  return main !== undefined && isSame(main)
}

async function isSame({ pid, startTicks }: MainProcess): Promise<boolean> {
  return (await readTicks(pid)) === startTicks
}

/** undefined when there is no such process, or only its remains. */
async function readTicks(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? undefined : fields[19]
}

/** Starts the words in a session of their own, with the log as output. */
export async function startMain(
  words: readonly string[],
  { environment, log }: { environment: NodeJS.ProcessEnv; log: string },
): Promise<{ main: MainProcess; child: ChildProcess }> {
  const [program = '', ...args] = words
  await using file = await open(log, 'a', 0o600)
  const child = spawn(program, args, { detached: true, cwd: '/', env: environment, stdio: ['ignore', file.fd, file.fd] })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (cause) => reject(new AppError('internal', `${program} cannot be started: ${cause.message}`, { cause })))
  })
  const pid = child.pid ?? 0
  const startTicks = await readTicks(pid)
  if (startTicks === undefined) throw new AppError('failed_precondition', 'The dev container ended at once')
  return { main: { pid, startTicks, startedAt: new Date().toISOString() }, child }
}

/** Asks the main process to end, and ends all processes of the container when the grace is over. */
export async function stopAll(container: Container, graceMs: number): Promise<void> {
  const { main } = container
  if (main !== undefined && graceMs > 0 && (await isSame(main))) {
    // The tracer holds SIGTERM back; its child is the main process of the container.
    for (const pid of await childrenOf(main.pid)) signal(pid, 'SIGTERM')
    const endMs = performance.now() + graceMs
    while ((await isSame(main)) && performance.now() < endMs) await delay(POLL_MS)
  }
  const tracers = await findMarked(container.id)
  for (const pid of tracers) signal(pid, 'SIGKILL')
  for (const pid of tracers) {
    const endMs = performance.now() + 10_000
    while ((await readTicks(pid)) !== undefined) {
      if (performance.now() > endMs) throw new AppError('deadline_exceeded', `The process ${pid} of the dev container does not end`)
      await delay(POLL_MS)
    }
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

async function findMarked(id: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
  const marked = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return environment.split('\0').includes(`${MARK}=${id}`)
    }),
  )
  return pids.filter((_, index) => marked[index]).map(Number)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}
