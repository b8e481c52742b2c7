import type { EgressPolicy, Keep } from '@sandyard/runtime/types'
import type { Container } from 'dockerode'
import { runtimeState, stationOn } from '../containers/container-state.ts'
import { runContainer, type RunOptions, type StartParts } from '../containers/run-container.ts'
import { isStuck, replaceStuck, type Replacement } from '../containers/stuck-container.ts'
import { endProcesses } from './end-processes.ts'
import { freeze, thaw } from './pause-sandbox.ts'

export interface ResumeContainer {
  readonly name: string
  readonly policy: EgressPolicy
  /** `files` although the processes are there. */
  readonly keep: Keep
  /** Of the handle. */
  readonly startedAt: string
  readonly signal: AbortSignal | undefined
  /** Of a container that the engine never starts again. */
  readonly replacement: Replacement
}

export interface ResumedContainer {
  readonly host: string
  readonly restored: Keep
}

/**
 * Runs a paused container again. Frozen processes continue; else the container starts from its files, in the same order as a new one. A
 * running container is only registered, and one that the engine cannot start any more is replaced by another one with its files.
 *
 * After a failure or an abort the container is frozen or stopped, and never removed.
 */
export async function resumeSandbox(parts: StartParts, request: ResumeContainer): Promise<ResumedContainer> {
  const { signal, startedAt } = request
  await parts.volume.ensure()
  const options = { bridge: await parts.network.ensure(), policy: request.policy, signal }
  const container = parts.docker.getContainer(request.name)
  const found = await container.inspect()
  const state = runtimeState(found.State.Status)
  const station = stationOn(options.bridge.id, found)
  signal?.throwIfAborted()
  if (state === 'running' && station !== undefined)
    return { host: await runContainer(parts, container, options), restored: found.State.StartedAt === startedAt ? 'memory' : 'files' }
  const isKept = request.keep === 'memory' && found.State.StartedAt === startedAt
  if (state === 'frozen' && isKept && station !== undefined) {
    // A policy that was changed meanwhile is in force before a process continues.
    await parts.egress?.register(station, request.policy)
    if (await thaw(container)) return { host: await keepUnlessAborted(container, station.address, signal), restored: 'memory' }
  }
  if (state === 'frozen') await endProcesses(parts, container)
  const host = await restart(parts, container, options).catch(async (err: unknown) => {
    if (!isStuck(err)) throw err
    signal?.throwIfAborted()
    return restart(parts, await replaceStuck(parts.docker, request.name, request.replacement), options)
  })
  return { host, restored: 'files' }
}

/** @throws the abort reason, after the container was frozen again */
async function keepUnlessAborted(container: Container, address: string, signal: AbortSignal | undefined): Promise<string> {
  if (signal?.aborted) {
    await freeze(container).catch(() => undefined)
    signal.throwIfAborted()
  }
  return address
}

async function restart(parts: StartParts, container: Container, options: RunOptions): Promise<string> {
  try {
    await parts.network.joinWhileStopped(container, options.bridge)
    return await runContainer(parts, container, options)
  } catch (err) {
    // If the engine cannot stop the container now, the next resume handles the container in the state that it has then.
    await endProcesses(parts, container).catch(() => undefined)
    throw err
  }
}
