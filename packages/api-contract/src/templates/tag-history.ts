import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { DateTime } from '../times.ts'

/** The shapes of clients-python-2.63.md 7. Only builds that are ready count in any of them. */

export const TAG_GROUPS = { assignmentLimit: 6, tagsLimit: 25 } as const
export const TAG_ASSIGNMENTS_LIMIT = 50

export type TagSort = 'latest_desc' | 'latest_asc' | 'name_asc' | 'name_desc'

const Cursor = (description: string) => Type.String({ description })
const Limit = (value: number, description: string) =>
  Type.Optional(Type.Integer({ format: 'int32', minimum: 1, default: value, description }))
const nextCursor = Nullable(Type.String({ description: 'Cursor of the next page; null on the last one' }))

export const TemplateTagsCount = Type.Object(
  { total: Type.Integer({ format: 'int64', description: 'Distinct tags that stand for a build' }) },
  { title: 'TemplateTagsCountResponse' },
)

/** Query of `GET /templates/{templateID}/tags/exists`. */
export const TagExistsQuery = Type.Object({ tag: Type.String() })

export const TemplateTagExists = Type.Object(
  { exists: Type.Boolean(), normalizedTag: Type.String({ description: 'The tag as it is stored' }) },
  { title: 'TemplateTagExistsResponse' },
)

export const TemplateTagAssignment = Type.Object(
  {
    assignmentId: Type.String({ format: 'uuid' }),
    buildId: Type.String({ format: 'uuid' }),
    assignedAt: DateTime('When the tag was assigned to the build'),
    buildCreatedAt: DateTime('When the build was registered'),
    buildFinishedAt: Nullable(Type.String({ format: 'date-time', description: 'When the build was ready' })),
  },
  { title: 'TemplateTagAssignment' },
)
export type TemplateTagAssignment = Static<typeof TemplateTagAssignment>

/** Query of `GET /templates/{templateID}/tags/{tag}/assignments`. */
export const TagAssignmentsQuery = Type.Object({
  cursor: Type.Optional(Cursor('The nextCursor of the previous page')),
  limit: Limit(TAG_ASSIGNMENTS_LIMIT, 'Maximum number of items a page'),
})

export const TemplateTagAssignments = Type.Object(
  { data: Type.Array(TemplateTagAssignment, { description: 'Newest first' }), nextCursor },
  { title: 'TemplateTagAssignmentsResponse' },
)

/** Query of `GET /templates/{templateID}/tags/groups`. */
export const TagGroupsQuery = Type.Object({
  assignmentLimit: Limit(TAG_GROUPS.assignmentLimit, 'Assignments of each tag, 25 at most'),
  tagsLimit: Limit(TAG_GROUPS.tagsLimit, 'Tags a page, 100 at most'),
  tagsCursor: Type.Optional(Cursor('The nextCursor of the previous page of the same sort')),
  search: Type.Optional(Type.String({ description: 'A part of the tags' })),
  sort: Type.Optional(
    Type.Unsafe<TagSort>({ type: 'string', enum: ['latest_desc', 'latest_asc', 'name_asc', 'name_desc'], default: 'latest_desc' }),
  ),
})
export type TagGroupsQuery = Static<typeof TagGroupsQuery>

export const TemplateTagGroup = Type.Object(
  {
    tag: Type.String(),
    assignments: Type.Array(TemplateTagAssignment, { description: 'Newest first' }),
    hasMore: Type.Boolean({ description: 'There are more assignments of this tag' }),
  },
  { title: 'TemplateTagGroup' },
)
export type TemplateTagGroup = Static<typeof TemplateTagGroup>

export const TemplateTagGroups = Type.Object({ tags: Type.Array(TemplateTagGroup), nextCursor }, { title: 'TemplateTagGroupsResponse' })
