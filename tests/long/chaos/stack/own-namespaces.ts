import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inOwnNamespaces } from '../../../../packages/test-kit/src/own-namespaces.ts'
import { secondEngineIsAbsent } from '../../../../packages/runtime-docker/test/support/second-engine.ts'

const MARK = 'SANDYARD_CHAOS_ENGINE'

/** The folder for an engine, in a process that `runInOwnNamespaces` has started; undefined in others. */
export function ownEngineFolder(): string | undefined {
  return process.env[MARK]
}

/**
 * Runs this program again in network, mount and process namespaces of its own: a second engine there does not touch the first one, and nothing of it
 * outlives the run. Returns the exit code. @throws Error where the machine cannot do it
 */
export async function runInOwnNamespaces(): Promise<number> {
  const reason = secondEngineIsAbsent()
  if (reason !== undefined) throw new Error(reason)
  const folder = await mkdtemp(join(tmpdir(), 'sandyard-chaos-engine-'))
  const [program, ...args] = inOwnNamespaces([process.execPath, ...process.argv.slice(1)])
  const child = spawn(program, args, {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: folder },
  })
  // The terminal sends it to both.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  const [code] = (await once(child, 'exit')) as [number | null]
  // The mounts of the engine have ended with its namespace.
  await rm(folder, { recursive: true, force: true })
  return code ?? 1
}
