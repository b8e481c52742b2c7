import type { SandboxEnd } from '@sandyard/runtime/types'
import type { Container } from 'dockerode'
import { unlessStatus } from '../engine/docker-errors.ts'
import { runtimeState } from './container-state.ts'

/** The exit code of a process that the kernel has killed. */
const KILLED = 137
/** The exit code that the engine gives a container whose processes were gone when it started. */
const GONE = 255

/** How the processes of a container ended. Undefined while it has some, and without a container. */
export async function readEnd(container: Container): Promise<SandboxEnd | undefined> {
  const found = await unlessStatus(404, () => container.inspect())
  if (found === undefined) return undefined
  const { Status, ExitCode, FinishedAt, OOMKilled } = found.State
  if (runtimeState(Status) !== 'stopped') return undefined
  const at = new Date(FinishedAt)
  if (ExitCode === GONE) return { at, cause: 'engine' }
  // The engine also remembers a process that was killed for its memory before, so the exit code has to agree.
  return { at, cause: OOMKilled && ExitCode === KILLED ? 'out_of_memory' : 'unknown' }
}
