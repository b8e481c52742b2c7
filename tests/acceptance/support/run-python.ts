import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { preparePython } from './python-environment.ts'

export interface ScriptEnd {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * The interpreter that has a package, by default the SDK, or the reason why this machine has none.
 *
 * @throws Error in CI, where it is required
 */
export async function findPython(wanted?: Parameters<typeof preparePython>[0]): Promise<{ python: string; missing: string }> {
  try {
    return { python: await preparePython(wanted), missing: '' }
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    return { python: '', missing: String(error) }
  }
}

/** Runs a script of `tests/python`. A script that exceeds its time limit prints its stack and exits. */
export async function runPython(
  python: string,
  script: string,
  timeoutMs: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<ScriptEnd> {
  const child = spawn(python, ['-B', '-X', 'faulthandler', join(import.meta.dirname, '../../python', script)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGABRT',
    // No proxy for the loopback address: this client would send even 127.0.0.1 through the machine's proxy.
    env: { ...process.env, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost', ...environment },
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status: status as number | null, stdout, stderr }
}
