import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Keep } from '@sandyard/runtime/types'
import type { Container, ContainerInspectInfo } from 'dockerode'
import { runtimeState } from '../containers/container-state.ts'
import { statusOf } from '../engine/docker-errors.ts'
import { retryFreeze } from '../engine/retry-freeze.ts'
import type { StartParts } from '../containers/run-container.ts'
import { endProcesses } from './end-processes.ts'

export interface PauseContainer {
  readonly name: string
  readonly keep: Keep
  /** Of the processes whose memory `memory` keeps; undefined for any. */
  readonly startedAt: string | undefined
}

/** Much longer than an event of containerd takes on a busy host. */
const ENGINE_LAG_MS = 2000
const LOOK_EVERY_MS = 20

/**
 * Pauses a container and returns what it is then. `memory` freezes its processes, `files` ends them. A paused one is success.
 *
 * @throws AppError `failed_precondition` for an ended container with `memory`; the engine's errors
 */
export async function pauseSandbox(parts: StartParts, { name, keep: asked, startedAt }: PauseContainer): Promise<ContainerInspectInfo> {
  const container = parts.docker.getContainer(name)
  const isOther = startedAt !== undefined && (await container.inspect()).State.StartedAt !== startedAt
  const keep = isOther ? 'files' : asked
  if (keep === 'files') await endProcesses(parts, container)
  else await freeze(container)
  const found = keep === 'memory' ? await inspectFrozen(container) : await container.inspect()
  const wanted = keep === 'memory' ? 'frozen' : 'stopped'
  if (runtimeState(found.State.Status) === wanted) return found
  if (keep === 'memory' && !found.State.Running) throw hasEnded()
  throw new AppError('conflict', 'This sandbox was resumed while it was paused.')
}

/**
 * The engine hears of a thaw later than of the call that made it. If it hears of it after the next freeze, it takes a frozen container for a running one, until it
 * hears of that freeze too.
 */
async function inspectFrozen(container: Container): Promise<ContainerInspectInfo> {
  const deadline = performance.now() + ENGINE_LAG_MS
  for (;;) {
    const found = await container.inspect()
    if (runtimeState(found.State.Status) !== 'running' || performance.now() >= deadline) return found
    await delay(LOOK_EVERY_MS)
  }
}

/** A frozen container is success. A freeze that the kernel did not finish is tried again. */
export async function freeze(container: Container): Promise<void> {
  try {
    await retryFreeze(() => container.pause())
  } catch (err) {
    const state = await stateAfter(container, err)
    if (state === 'stopped') throw hasEnded(err)
    if (state !== 'frozen') throw err
  }
}

/** A running container is success. False when the processes have ended. */
export async function thaw(container: Container): Promise<boolean> {
  try {
    await container.unpause()
    return true
  } catch (err) {
    const state = await stateAfter(container, err)
    if (state === 'frozen') throw err
    return state === 'running'
  }
}

/** The state of a container for which the engine refused a change: it may have the wanted state already. */
async function stateAfter(container: Container, refusal: unknown): Promise<ReturnType<typeof runtimeState>> {
  // Without a status the engine did not answer: another request would wait as long.
  if (statusOf(refusal) === undefined || statusOf(refusal) === 404) throw refusal
  return runtimeState((await container.inspect()).State.Status)
}

function hasEnded(cause?: unknown): AppError {
  return new AppError('failed_precondition', 'This sandbox has ended.', { cause })
}
