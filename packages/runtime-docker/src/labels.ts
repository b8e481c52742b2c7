import { createHash } from 'node:crypto'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Labels contain identity and what never changes, never state. */
export const LABEL = {
  installation: 'sandyard.installation',
  sandboxId: 'sandyard.sandbox-id',
  incarnation: 'sandyard.incarnation',
  role: 'sandyard.role',
  snapshot: 'sandyard.snapshot',
  spec: 'sandyard.spec',
  sizeBytes: 'sandyard.size-bytes',
  build: 'sandyard.build',
  daemonVersion: 'sandyard.daemon-version',
  engineId: 'sandyard.engine-id',
  /** The name of a volume in the volume store. */
  volume: 'sandyard.volume',
  /** Of containers of the proxy and the api. */
  member: 'sandyard.member',
} as const

export type Labels = Readonly<Record<string, string>>

export function sandboxLabels(installation: string, { sandboxId, incarnation }: SandboxRef): Record<string, string> {
  return {
    [LABEL.installation]: installation,
    [LABEL.role]: 'sandbox',
    [LABEL.sandboxId]: sandboxId,
    [LABEL.incarnation]: String(incarnation),
  }
}

/** Undefined when the labels are not those of a sandbox. */
export function refOf(labels: Labels): SandboxRef | undefined {
  const sandboxId = labels[LABEL.sandboxId]
  const incarnation = Number(labels[LABEL.incarnation])
  if (labels[LABEL.role] !== 'sandbox' || sandboxId === undefined || sandboxId === '' || !Number.isSafeInteger(incarnation))
    return undefined
  return { sandboxId, incarnation }
}

/** The engine's filter for all sandboxes of an installation, or for all incarnations of one. */
export function sandboxFilter(installation: string, sandboxId?: string): Readonly<Record<string, readonly string[]>> {
  const one = sandboxId === undefined ? [] : [`${LABEL.sandboxId}=${sandboxId}`]
  return { label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=sandbox`, ...one] }
}

export type Role =
  | 'sandbox'
  | 'network'
  | 'guard'
  | 'probe'
  | 'flatten'
  | 'daemon-volume'
  /** A container that is never started and through which a file of an image is read. */
  | 'original'
  /** A volume with files of users. */
  | 'volume'
  /** A container that is never started and makes a volume ready. */
  | 'volume-door'
  /** A container that is never started and through which a volume is read. */
  | 'volume-copy'
  /** A container with the file service of a volume. */
  | 'volume-server'
  /** A container that measures a volume, or removes its files, and ends. */
  | 'volume-tool'

/** The engine's filter for objects of an installation with a role. */
export function roleFilter(installation: string, role: Role): string {
  return JSON.stringify({ label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=${role}`] })
}

/**
 * The same name for the same sandbox, so that a repeated create finds the first one. The name does not reveal the id of the sandbox: the
 * engine's resolver returns container names to every sandbox that looks up an address.
 */
export function containerName(installation: string, { sandboxId, incarnation }: SandboxRef): string {
  return `sandyard-${digest(`${installation}/${sandboxId}/${incarnation}`, 32)}`
}

/** The engine's names of a volume and of the containers that serve it. They do not reveal its name, as those of sandboxes do not reveal an id. */
export function volumeNames(
  installation: string,
  name: string,
): { readonly volume: string; readonly door: string; readonly server: string } {
  const id = digest(`${installation}/volume/${name}`, 32)
  return { volume: `sandyard-vol-${id}`, door: `sandyard-voldoor-${id}`, server: `sandyard-volserver-${id}` }
}

export function volumeLabels(installation: string, name: string, role: Role): Record<string, string> {
  return { [LABEL.installation]: installation, [LABEL.role]: role, [LABEL.volume]: name }
}

/** Our own images are below one name of the default registry that nobody else uses there. */
export const OWN_REPOSITORIES = 'sandyard/'
export const SNAPSHOT_REPOSITORY = `${OWN_REPOSITORIES}snapshot-`
export const KEPT_REPOSITORY = `${OWN_REPOSITORIES}image-`
export const PULLING_REPOSITORY = `${OWN_REPOSITORIES}pulling-`
export const REMOVED_REPOSITORY = `${OWN_REPOSITORIES}removed-`

export function networkName(installation: string): string {
  return `sandyard-${installation}`
}

/** Interface names have at most 15 characters. */
export function bridgeName(installation: string): string {
  return `sy-${digest(installation, 12)}`
}

export function snapshotImage(installation: string, name: string): string {
  return `${SNAPSHOT_REPOSITORY}${installation}:${name}`
}

/** The name of an image that was pulled or built from a Dockerfile. Such images cannot be labelled, so the time is part of the name. */
export function keptImage(installation: string, keptAt: Date, id: string): string {
  return `${KEPT_REPOSITORY}${installation}:${keptAt.getTime().toString(36)}-${id}`
}

/** Undefined for names that `keptImage` did not make. */
export function keptAt(installation: string, image: string): Date | undefined {
  const prefix = `${KEPT_REPOSITORY}${installation}:`
  const stamp = image.startsWith(prefix) ? /^([0-9a-z]{1,9})-/.exec(image.slice(prefix.length))?.[1] : undefined
  return stamp === undefined ? undefined : new Date(Number.parseInt(stamp, 36))
}

/** The name of a removed image that a container still uses. */
export function removedImage(installation: string, imageId: string): string {
  return `${REMOVED_REPOSITORY}${installation}:${imageId.replace(/^sha256:/, '').slice(0, 32)}`
}

/** Whether the images of a repository are private to their installation. */
export function isOwnRepository(repository: string): boolean {
  return [SNAPSHOT_REPOSITORY, KEPT_REPOSITORY, REMOVED_REPOSITORY, PULLING_REPOSITORY].some((own) => repository.startsWith(own))
}

/** The engine's filter for the images under the names of an installation. */
export function imageFilter(installation: string, repositories: readonly string[]): string {
  return JSON.stringify({ reference: repositories.map((repository) => `${repository}${installation}`) })
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
