import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import { listContainers } from '../containers/list-containers.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { findReplaced } from '../containers/stuck-container.ts'
import { unlessStatus } from '../engine/docker-errors.ts'
import { LABEL } from '../labels.ts'
import { repairEach } from '../engine/repair-each.ts'

export interface LeftoverParts {
  readonly docker: Docker
  readonly installation: string
  /** The daemon volume of this version. */
  readonly volumeName: string
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/**
 * The minimum age of a helper container without processes before it is removed. A live server starts a guard or a probe within the
 * deadlines of the calls for it, fills a daemon volume within five minutes, and runs no step of a Dockerfile for a day.
 */
const LEFT_BEHIND_AFTER_MS: Readonly<Record<string, number>> = {
  guard: 10 * MINUTE_MS,
  probe: 10 * MINUTE_MS,
  original: 10 * MINUTE_MS,
  'volume-server': 10 * MINUTE_MS,
  'volume-tool': 10 * MINUTE_MS,
  'daemon-volume': HOUR_MS,
  dockerfile: 24 * HOUR_MS,
  'volume-copy': 24 * HOUR_MS,
}

/** An older server of the same installation may still start sandboxes with it; then it fills the volume again. */
const OLD_VOLUME_AFTER_MS = HOUR_MS

/**
 * Removes leftovers of killed servers of this installation: helper containers that never started or have ended, containers of sandboxes that
 * were replaced, and daemon volumes of other versions that no container uses. `now` is the time for the ages.
 *
 * @throws AggregateError of what could not be removed
 */
export async function collectLeftovers(parts: LeftoverParts, now: number = Date.now()): Promise<void> {
  const outcomes = await Promise.allSettled([collectContainers(parts, now), collectVolumes(parts, now)])
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (reasons.length > 0) throw new AggregateError(reasons, 'not all leftovers could be removed')
}

async function collectContainers({ docker, installation }: LeftoverParts, now: number): Promise<void> {
  const label = [`${LABEL.installation}=${installation}`]
  const found = await listContainers(docker, { label, status: ['created', 'exited', 'dead'] })
  const replaced = await findReplaced(docker, found)
  await repairEach([...found.filter((container) => isLeftBehind(container, now)), ...replaced], ({ Id }) => removeContainer(docker, Id))
}

/** Whether a helper container without processes is too old for a live server to be starting it. */
export function isLeftBehind({ Labels, Created }: ContainerInfo, now: number): boolean {
  const afterMs = LEFT_BEHIND_AFTER_MS[Labels[LABEL.role] ?? '']
  return afterMs !== undefined && now - Created * 1000 > afterMs
}

async function collectVolumes({ docker, installation, volumeName }: LeftoverParts, now: number): Promise<void> {
  const filters = JSON.stringify({ label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=daemon-volume`] })
  const { Volumes: found } = await docker.listVolumes({ filters })
  const old = found.filter((volume) => volume.Name !== volumeName && now - createdAt(volume) > OLD_VOLUME_AFTER_MS)
  // The engine refuses to remove a volume that a container uses.
  await repairEach(old, ({ Name }) => unlessStatus(404, () => unlessStatus(409, () => docker.getVolume(Name).remove())))
}

/** The library's type does not have this field. */
function createdAt(volume: object): number {
  return Date.parse((volume as { CreatedAt?: string }).CreatedAt ?? '')
}
