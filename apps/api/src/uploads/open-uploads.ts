import type { Database } from '@sandyard/db/database'
import type { ApiConfig } from '../config.ts'
import type { ApiMetrics } from '../metrics/api-metrics.ts'
import { UploadFolder } from './upload-folder.ts'
import { UploadStore } from './upload-store.ts'

const MAX_ARCHIVE_ENTRIES = 1_000_000

/** The store of uploaded archives with its folder and the limits of what an archive unpacks to. */
export function openUploads({ builds, storage }: ApiConfig, database: Database, metrics: ApiMetrics) {
  const folder = new UploadFolder(builds.uploadsDir)
  const archiveLimits = { maxBytes: builds.uploadUnpackedLimitBytes, maxEntries: MAX_ARCHIVE_ENTRIES }
  const onStored = (bytes: number): void => metrics.uploadedBytes.inc(bytes)
  return { folder, archiveLimits, uploads: new UploadStore({ database, folder, limits: archiveLimits, storage, onStored }) }
}
