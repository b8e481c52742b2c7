import type { Database } from '@sandyard/db/database'
import type { ImageRef } from '@sandyard/runtime/types'
import { ENVD_VERSION } from '../daemon/daemon-version.ts'
import { upsertTemplate } from '../templates/upsert-template.ts'

export interface BaseTemplate {
  readonly teamId: string
  readonly userId: string
  readonly image: ImageRef
  readonly cpuCount: number
  readonly memoryMib: number
  readonly diskMib: number
  /** Default: `user`. */
  readonly defaultUser?: string
  /** Default: `/home/user`. */
  readonly defaultWorkdir?: string
}

/** Registers an image as the template `base` for every team. Does nothing if the image is unchanged. */
export async function seedBaseTemplate(database: Database, base: BaseTemplate): Promise<{ templateId: string; buildId: string }> {
  const { userId, defaultUser = 'user', defaultWorkdir = '/home/user', ...rest } = base
  return upsertTemplate(database, { ...rest, createdBy: userId, alias: 'base', defaultUser, defaultWorkdir, envdVersion: ENVD_VERSION })
}
