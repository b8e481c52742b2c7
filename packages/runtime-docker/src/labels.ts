import { createHash } from 'node:crypto'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Identity only: state that changes is never in a label. */
export const LABEL = {
  installation: 'sandyard.installation',
  sandboxId: 'sandyard.sandbox-id',
  incarnation: 'sandyard.incarnation',
  role: 'sandyard.role',
  snapshot: 'sandyard.snapshot',
  build: 'sandyard.build',
  daemonVersion: 'sandyard.daemon-version',
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

/** The engine's filter for what belongs to an installation and plays `role`. */
export function roleFilter(installation: string, role: 'sandbox' | 'network' | 'guard' | 'flatten'): string {
  return JSON.stringify({ label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=${role}`] })
}

/**
 * The same for the same sandbox, so that a create that is repeated finds the first one. It tells nothing: the engine's resolver
 * gives names of containers to every sandbox that asks for an address.
 */
export function containerName(installation: string, { sandboxId, incarnation }: SandboxRef): string {
  return `sandyard-${digest(`${installation}/${sandboxId}/${incarnation}`, 32)}`
}

/** Our own images are below one name of the default registry, which belongs to nobody else there. */
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

/** Of an image that was pulled or built from a Dockerfile. Such images cannot be labelled, so the name tells when it was kept. */
export function keptImage(installation: string, keptAt: Date, id: string): string {
  return `${KEPT_REPOSITORY}${installation}:${keptAt.getTime().toString(36)}-${id}`
}

/** Undefined for other names than those of `keptImage`. */
export function keptAt(installation: string, image: string): Date | undefined {
  const prefix = `${KEPT_REPOSITORY}${installation}:`
  const stamp = image.startsWith(prefix) ? /^([0-9a-z]{1,9})-/.exec(image.slice(prefix.length))?.[1] : undefined
  return stamp === undefined ? undefined : new Date(Number.parseInt(stamp, 36))
}

/** Of an image that was given up and is still in use. */
export function removedImage(installation: string, imageId: string): string {
  return `${REMOVED_REPOSITORY}${installation}:${imageId.replace(/^sha256:/, '').slice(0, 32)}`
}

/** Whether images in a repository are known to their installation only. */
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
