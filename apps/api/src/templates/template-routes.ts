import type { ApiRoute } from '../http/api-instance.ts'
import { installReadyMadeTemplateRoute } from '../ready-made/routes/install-ready-made-template.ts'
import { listReadyMadeTemplatesRoute } from '../ready-made/routes/list-ready-made-templates.ts'
import { deleteTemplateRoute } from './routes/delete-template.ts'
import { getTemplateAliasRoute } from './routes/get-template-alias.ts'
import { getTemplateRoute } from './routes/get-template.ts'
import { listDefaultTemplatesRoute } from './routes/list-default-templates.ts'
import { listTemplatesV2Route } from './routes/list-templates-v2.ts'
import { listTemplatesRoute } from './routes/list-templates.ts'
import { updateTemplateV2Route } from './routes/update-template-v2.ts'
import { updateTemplateRoute } from './routes/update-template.ts'

/** Templates (control-plane.md 9), and the ready-made ones, which are ours. */
export const templateRoutes: readonly ApiRoute[] = [
  listTemplatesRoute,
  listTemplatesV2Route,
  listDefaultTemplatesRoute,
  listReadyMadeTemplatesRoute,
  installReadyMadeTemplateRoute,
  getTemplateRoute,
  updateTemplateRoute,
  updateTemplateV2Route,
  deleteTemplateRoute,
  getTemplateAliasRoute,
]
