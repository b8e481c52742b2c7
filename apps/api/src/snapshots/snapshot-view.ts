import type { SnapshotInfo } from '@sandyard/api-contract/sandboxes/snapshot'

export interface SnapshotName {
  readonly templateId: string
  readonly tag: string
  /** The namespace of the team. */
  readonly slug: string
  /** Undefined for a snapshot without a name. */
  readonly alias: string | undefined
}

/** The names of control-plane.md 7.1: a tag in the id, none in the names. */
export function toSnapshotInfo({ templateId, tag, slug, alias }: SnapshotName): SnapshotInfo {
  if (alias === undefined) return { snapshotID: `${templateId}:${tag}`, names: [] }
  return { snapshotID: `${slug}/${alias}:${tag}`, names: [`${slug}/${alias}`] }
}
