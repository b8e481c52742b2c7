import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxSpec, SnapshotSpec } from '@sandyard/runtime/types'
import { LABEL, type Labels } from '../labels.ts'

/** The value of the label with what a snapshot of a sandbox must know about it. */
export function writeSpec({ resources, allowPrivilegeGain, mounts }: SandboxSpec): string {
  return JSON.stringify({ resources, allowPrivilegeGain, mounts } satisfies SnapshotSpec)
}

/** @throws AppError `failed_precondition` for a container of an older version, which has no such label */
export function readSpec(labels: Labels): SnapshotSpec {
  const text = labels[LABEL.spec]
  if (text === undefined) throw new AppError('failed_precondition', 'This sandbox was created by an older version of the server.')
  return JSON.parse(text) as SnapshotSpec
}
