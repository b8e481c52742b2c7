import { AppError } from '@sandyard/kit/errors/app-error'
import type { SandboxRuntime } from '@sandyard/runtime/sandbox-runtime'
import type { VolumeStore } from '@sandyard/runtime/volume-store'

/** @throws AppError `permission_denied` for a runtime without volumes (control-plane.md 15.2) */
export function getVolumeStore({ volumes }: Pick<SandboxRuntime, 'volumes'>): VolumeStore {
  if (volumes === undefined) throw new AppError('permission_denied', 'use of volumes is not enabled')
  return volumes
}

/** The volume does not exist, is deleted, or belongs to another team (control-plane.md 15.2). */
export function volumeNotFound(): AppError {
  return new AppError('not_found', 'Volume not found')
}
