import type { Container } from 'dockerode'
import { runtimeState } from '../containers/container-state.ts'
import { statusOf, unlessStatus } from '../engine/docker-errors.ts'
import type { StartParts } from '../containers/run-container.ts'

/** How long the daemon may take to end, before the engine kills it. */
const GRACE_SECONDS = 1

/**
 * Ends the processes of a container and keeps its files: the engine unmounts them, so that they are written. It leaves the network first,
 * as before a removal. A container without processes is success.
 */
export async function endProcesses(parts: Pick<StartParts, 'network'>, container: Container): Promise<void> {
  const { State } = await container.inspect()
  const state = runtimeState(State.Status)
  if (state === 'stopped') return
  await parts.network.disconnect(container.id)
  if (state === 'running') return void (await unlessStatus(304, () => container.stop({ t: GRACE_SECONDS })))
  try {
    // Frozen processes cannot end by themselves. The engine thaws them after it has sent them the signal.
    await container.kill({ signal: 'SIGKILL' })
  } catch (err) {
    if (statusOf(err) === undefined || runtimeState((await container.inspect()).State.Status) !== 'stopped') throw err
  }
}
