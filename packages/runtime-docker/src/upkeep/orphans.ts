import type Docker from 'dockerode'
import type { ContainerInfo } from 'dockerode'
import type { Orphan } from '@sandyard/runtime/orphan'
import type { SandboxRef } from '@sandyard/runtime/types'
import { listContainers } from '../containers/list-containers.ts'
import { removeContainer } from '../containers/remove-container.ts'
import { engineCall, unlessStatus } from '../engine/docker-errors.ts'
import { KeptImages } from '../images/kept-images.ts'
import { removeNameless } from '../images/remove-nameless.ts'
import { imageFilter, KEPT_REPOSITORY, LABEL, refOf, REMOVED_REPOSITORY, roleFilter, SNAPSHOT_REPOSITORY } from '../labels.ts'
import { SandboxNetwork } from '../network/sandbox-network.ts'
import { isLeftBehind } from './collect-leftovers.ts'

export interface OrphanParts {
  readonly docker: Docker
  readonly installation: string
}

/** What the owner of an installation knows of it. */
export interface OwnerRecords {
  /** Those of the sandboxes that belong to no record. */
  unownedSandboxes(sandboxes: readonly SandboxRef[]): Promise<readonly SandboxRef[]>
  /** Those of the images that no record refers to. */
  unneededImages(images: readonly string[]): Promise<readonly string[]>
  /** Whether a server of the installation runs. */
  hasServer(): Promise<boolean>
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A sandbox has its record before its container; this is for a record that was not visible yet. */
const YOUNG_SANDBOX_MS = 10 * MINUTE_MS
/** A build stores its images when it ends. */
const YOUNG_IMAGE_MS = 24 * HOUR_MS
const YOUNG_VOLUME_MS = HOUR_MS

/**
 * Lists the orphans of one installation, never objects of another one. Objects that are young enough to belong to work in progress are not
 * listed.
 *
 * @throws AppError of the engine; any error of `records`
 */
export function findOrphans(parts: OrphanParts, records: OwnerRecords, now: number = Date.now()): Promise<Orphan[]> {
  return engineCall('The objects of the engine could not be listed.', async () => {
    const containers = await listContainers(parts.docker, { label: [`${LABEL.installation}=${parts.installation}`] })
    return [
      ...(await findSandboxes(containers, records, now)),
      ...findHelpers(containers, now),
      ...(await findImages(parts, records, now)),
      ...(await findVolumes(parts, now)),
      ...(await findNetworks(parts, containers, records)),
    ]
  })
}

/**
 * Removes an orphan. One that is in use meanwhile stays, and an absent one is success.
 *
 * @throws AppError of the engine
 */
export function removeOrphan({ docker, installation }: OrphanParts, { kind, id }: Orphan): Promise<void> {
  return engineCall(`The ${kind} could not be removed.`, async () => {
    if (kind === 'container') {
      const network = new SandboxNetwork(docker, installation)
      if ((await network.find()) !== undefined) await network.ensure()
      await network.disconnect(id)
      await removeContainer(docker, id)
    } else if (kind === 'image') {
      const kept = new KeptImages(docker, installation)
      if (kept.owns(id)) await kept.remove(id)
      else if (id.startsWith('sha256:')) await removeNameless(docker, id)
      else await unlessStatus(404, () => unlessStatus(409, () => docker.getImage(id).remove()))
    } else if (kind === 'volume') await unlessStatus(404, () => unlessStatus(409, () => docker.getVolume(id).remove()))
    else await unlessStatus(404, () => docker.getNetwork(id).remove())
  })
}

async function findSandboxes(containers: readonly ContainerInfo[], records: OwnerRecords, now: number): Promise<Orphan[]> {
  const old = containers.flatMap((container) => {
    const ref = refOf(container.Labels)
    return ref === undefined || now - container.Created * 1000 < YOUNG_SANDBOX_MS ? [] : [{ container, ref }]
  })
  const unowned = new Set((await records.unownedSandboxes(old.map(({ ref }) => ref))).map(keyOf))
  return old
    .filter(({ ref }) => unowned.has(keyOf(ref)))
    .map(({ container, ref }) => ({
      ...ofContainer(container),
      name: ref.sandboxId,
      reason: `the sandbox has no record (${container.State})`,
    }))
}

function findHelpers(containers: readonly ContainerInfo[], now: number): Orphan[] {
  return containers
    .filter((container) => ['created', 'exited', 'dead'].includes(container.State) && isLeftBehind(container, now))
    .map((container) => ({ ...ofContainer(container), reason: `a ${container.Labels[LABEL.role]} container that a killed server left` }))
}

function ofContainer({ Id, Names, Created }: ContainerInfo): Omit<Orphan, 'reason'> {
  const name = Names[0]?.replace(/^\//, '') ?? Id.slice(0, 12)
  return { kind: 'container', id: Id, name, createdAt: new Date(Created * 1000), sizeBytes: undefined }
}

async function findImages({ docker, installation }: OrphanParts, records: OwnerRecords, now: number): Promise<Orphan[]> {
  const repositories = [SNAPSHOT_REPOSITORY, KEPT_REPOSITORY, REMOVED_REPOSITORY]
  const found = await docker.listImages({ filters: imageFilter(installation, repositories) })
  const createdAt = new Map((await new KeptImages(docker, installation).list()).map((kept) => [kept.image, kept.createdAt]))
  const named = found.flatMap(({ RepoTags, Created, Size }) =>
    (RepoTags ?? [])
      .filter((name) => repositories.some((repository) => name.startsWith(`${repository}${installation}:`)))
      .map((name) => ({ name, createdAt: createdAt.get(name) ?? new Date(Created * 1000), sizeBytes: Size })),
  )
  const old = named.filter((image) => now - image.createdAt.getTime() >= YOUNG_IMAGE_MS)
  const removed = old.filter(({ name }) => name.startsWith(`${REMOVED_REPOSITORY}${installation}:`))
  const kept = old.filter((image) => !removed.includes(image))
  const unneeded = new Set(await records.unneededImages(kept.map(({ name }) => name)))
  const inUse = await idsInUse(docker)
  const isUnused = ({ name }: { readonly name: string }): boolean =>
    !inUse.has(found.find(({ RepoTags }) => RepoTags?.includes(name))?.Id ?? '')
  return [
    ...kept.filter(({ name }) => unneeded.has(name)).map((image) => toImage(image, 'no build, layer or sandbox refers to it')),
    ...removed.filter(isUnused).map((image) => toImage(image, 'it was removed while a sandbox ran from it')),
    ...(await findNameless({ docker, installation }, now)),
  ]
}

function toImage(image: { readonly name: string; readonly createdAt: Date; readonly sizeBytes: number }, reason: string): Orphan {
  return { kind: 'image', id: image.name, ...image, reason }
}

async function idsInUse(docker: Docker): Promise<ReadonlySet<string>> {
  return new Set((await listContainers(docker, {})).map(({ ImageID }) => ImageID))
}

/** Images of builds that did not end. */
async function findNameless({ docker, installation }: OrphanParts, now: number): Promise<Orphan[]> {
  const filters = JSON.stringify({ dangling: ['true'], label: [`${LABEL.installation}=${installation}`] })
  const found = await docker.listImages({ filters })
  return found
    .map(({ Id, Created, Size }) => ({ id: Id, name: Id.slice(7, 19), createdAt: new Date(Created * 1000), sizeBytes: Size }))
    .filter(({ createdAt }) => now - createdAt.getTime() >= YOUNG_IMAGE_MS)
    .map((image) => ({ kind: 'image', ...image, reason: 'a build that did not end left it without a name' }))
}

/** Daemon volumes without a container; the newest one stays for the next sandbox. */
async function findVolumes({ docker, installation }: OrphanParts, now: number): Promise<Orphan[]> {
  const mine = roleFilter(installation, 'daemon-volume')
  const { Volumes: all } = await docker.listVolumes({ filters: mine })
  const idle = JSON.stringify({ ...(JSON.parse(mine) as object), dangling: ['true'] })
  const { Volumes: unused } = await docker.listVolumes({ filters: idle })
  const newest = Math.max(...all.map((volume) => createdAt(volume).getTime()))
  return unused
    .map((volume) => ({ id: volume.Name, name: volume.Name, createdAt: createdAt(volume), sizeBytes: undefined }))
    .filter((volume) => volume.createdAt.getTime() < newest && now - volume.createdAt.getTime() >= YOUNG_VOLUME_MS)
    .map((volume) => ({ kind: 'volume', ...volume, reason: 'an older version of the daemon that no sandbox uses' }))
}

/** The library's type does not have this field. */
function createdAt(volume: object): Date {
  return new Date((volume as { CreatedAt?: string }).CreatedAt ?? 0)
}

async function findNetworks(
  { docker, installation }: OrphanParts,
  containers: readonly ContainerInfo[],
  records: OwnerRecords,
): Promise<Orphan[]> {
  if (containers.some(({ Labels }) => refOf(Labels) !== undefined) || (await records.hasServer())) return []
  const found = await docker.listNetworks({ filters: roleFilter(installation, 'network') })
  return found.map(({ Id, Name, Created }) => ({
    kind: 'network',
    id: Id,
    name: Name,
    createdAt: new Date(Created),
    sizeBytes: undefined,
    reason: 'no server and no sandbox is there to use it',
  }))
}

function keyOf({ sandboxId, incarnation }: SandboxRef): string {
  return `${sandboxId}/${incarnation}`
}
