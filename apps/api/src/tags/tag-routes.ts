import type { ApiRoute } from '../http/api-instance.ts'
import { assignTagsRoute } from './routes/assign-tags.ts'
import { checkTagRoute } from './routes/check-tag.ts'
import { countTagsRoute } from './routes/count-tags.ts'
import { deleteTagsRoute } from './routes/delete-tags.ts'
import { listTagAssignmentsRoute } from './routes/list-tag-assignments.ts'
import { listTagGroupsRoute } from './routes/list-tag-groups.ts'
import { listTagsRoute } from './routes/list-tags.ts'

/** Tags of builds (control-plane.md 12). */
export const tagRoutes: readonly ApiRoute[] = [
  assignTagsRoute,
  deleteTagsRoute,
  listTagsRoute,
  countTagsRoute,
  checkTagRoute,
  listTagGroupsRoute,
  listTagAssignmentsRoute,
]
