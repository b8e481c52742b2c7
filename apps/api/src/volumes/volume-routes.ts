import type { ApiRoute } from '../http/api-instance.ts'
import { contentRoutes } from './content/content-routes.ts'
import { createVolumeRoute } from './routes/create-volume.ts'
import { deleteVolumeRoute } from './routes/delete-volume.ts'
import { getVolumeRoute } from './routes/get-volume.ts'
import { listVolumesRoute } from './routes/list-volumes.ts'

/** Volumes and their content (control-plane.md 15). */
export const volumeRoutes: readonly ApiRoute[] = [listVolumesRoute, createVolumeRoute, getVolumeRoute, deleteVolumeRoute, contentRoutes]
