import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findFreePort } from '@sandyard/kit/net/free-port'
import { join } from 'node:path'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { COMPILED_MODULES } from '@sandyard/test-kit/compiled-modules'
import { ENGINE_FLAGS } from '../../build/dist.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
/** More than the daemon gives its streams. */
const END_TIMEOUT_MS = 2000

/** Disposing it ends the daemon in order, so that Node keeps its compiled modules for the next one. */
export interface DaemonProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** Kills the daemon with SIGKILL and waits for its end. Repeated calls are allowed. */
  kill(): Promise<void>
}

export interface DaemonProcessOptions {
  /** A command that executes the command in its arguments. */
  readonly launcher?: readonly string[]
  /** Flags for Node in addition to those of a sandbox. */
  readonly nodeFlags?: readonly string[]
}

/** The daemon in a process of its own, ready for requests, with its run files in `runDirectory`. */
export async function startDaemonProcess(
  runDirectory: string,
  { launcher = [], nodeFlags = [] }: DaemonProcessOptions = {},
): Promise<DaemonProcess> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const flags = ['-isnotfc', '-host', '127.0.0.1', '-port', String(port)]
  const command = [...launcher, process.execPath, ...ENGINE_FLAGS, ...nodeFlags, MAIN, ...flags]
  const daemon = spawn(command[0] ?? '', command.slice(1), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...COMPILED_MODULES, SANDYARD_RUN_DIRECTORY: runDirectory, SANDYARD_LOG_LEVEL: 'silent' },
  })
  const exited = once(daemon, 'exit')
  async function kill(): Promise<void> {
    daemon.kill('SIGKILL')
    await exited
  }
  async function end(): Promise<void> {
    daemon.kill('SIGTERM')
    const timer = setTimeout(() => daemon.kill('SIGKILL'), END_TIMEOUT_MS)
    await exited
    clearTimeout(timer)
  }
  try {
    await pollUntil({ what: 'the daemon', timeoutMs: 20_000, everyMs: 10 }, () =>
      fetch(`${url}/health`).then(
        () => true,
        () => undefined,
      ),
    )
  } catch (error) {
    await kill()
    throw error
  }
  const { pid } = daemon
  if (pid === undefined) throw new Error('the daemon did not start')
  return { url, pid, kill, [Symbol.asyncDispose]: end }
}
