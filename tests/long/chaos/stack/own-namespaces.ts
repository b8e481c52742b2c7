import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { secondEngineIsAbsent } from '../../../../packages/runtime-docker/test/support/second-engine.ts'

const MARK = 'SANDYARD_CHAOS_INSIDE'

/** Whether this process was started by `inOwnNamespaces`. */
export function isInOwnNamespaces(): boolean {
  return process.env[MARK] === '1'
}

/**
 * Runs this program again in network, mount and process namespaces of its own: a second engine there does not touch the first one, and nothing of it
 * outlives the run. Returns the exit code. @throws Error where the machine cannot do it
 */
export async function inOwnNamespaces(): Promise<number> {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) throw new Error(reason)
  const flags = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
  const [node, ...args] = [process.execPath, ...process.argv.slice(1)]
  const child = spawn('unshare', [...flags, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', node ?? '', ...args], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: '1' },
  })
  // The terminal sends it to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}
