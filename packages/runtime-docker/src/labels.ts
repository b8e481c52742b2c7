import { createHash } from 'node:crypto'
import type { SandboxRef } from '@sandyard/runtime/types'

/** Identity only: state that changes is never in a label. */
export const LABEL = {
  installation: 'sandyard.installation',
  sandboxId: 'sandyard.sandbox-id',
  incarnation: 'sandyard.incarnation',
  role: 'sandyard.role',
  snapshot: 'sandyard.snapshot',
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
export function roleFilter(installation: string, role: 'sandbox' | 'network' | 'guard'): string {
  return JSON.stringify({ label: [`${LABEL.installation}=${installation}`, `${LABEL.role}=${role}`] })
}

/**
 * The same for the same sandbox, so that a create that is repeated finds the first one. It tells nothing: the engine's resolver
 * gives names of containers to every sandbox that asks for an address.
 */
export function containerName(installation: string, { sandboxId, incarnation }: SandboxRef): string {
  return `sandyard-${digest(`${installation}/${sandboxId}/${incarnation}`, 32)}`
}

export function networkName(installation: string): string {
  return `sandyard-${installation}`
}

/** Interface names have at most 15 characters. */
export function bridgeName(installation: string): string {
  return `sy-${digest(installation, 12)}`
}

export function snapshotImage(installation: string, name: string): string {
  return `sandyard/snapshot-${installation}:${name}`
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
