import type { ApiRoute } from '../http/api-instance.ts'
import { getTemplateFilesRoute } from '../uploads/routes/get-template-files.ts'
import { uploadFilesRoute } from '../uploads/routes/upload-files.ts'
import { createTemplateV2Route } from './routes/create-template-v2.ts'
import { createTemplateV3Route } from './routes/create-template-v3.ts'
import { createTemplateRoute } from './routes/create-template.ts'
import { getBuildLogsRoute } from './routes/get-build-logs.ts'
import { getBuildStatusRoute } from './routes/get-build-status.ts'
import { rebuildTemplateRoute } from './routes/rebuild-template.ts'
import { startBuildV2Route } from './routes/start-build-v2.ts'
import { startBuildRoute } from './routes/start-build.ts'

/** Builds in their three generations, and the archives of their COPY steps (control-plane.md 10). */
export const buildRoutes: readonly ApiRoute[] = [
  getTemplateFilesRoute,
  uploadFilesRoute,
  createTemplateRoute,
  createTemplateV2Route,
  createTemplateV3Route,
  rebuildTemplateRoute,
  startBuildRoute,
  startBuildV2Route,
  getBuildStatusRoute,
  getBuildLogsRoute,
]
