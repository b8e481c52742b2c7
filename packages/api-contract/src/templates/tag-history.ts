import { Type, type Static } from 'typebox'
import { Nullable } from '../nullable.ts'
import { DateTime } from '../times.ts'

/** The schemas of clients-python-2.63.md 7. Only ready builds count in them. */

export const TAG_GROUP_LIMITS = { assignments: { default: 6, most: 25 }, tags: { default: 25, most: 100 } } as const
export const TAG_ASSIGNMENTS_LIMITS = { default: 50, most: 100 } as const

export type TagSort = 'latest_desc' | 'latest_asc' | 'name_asc' | 'name_desc'

const Cursor = (description: string) => Type.String({ description })
/** The server clamps values, so the schema has no bounds. */
const Limit = (value: number, description: string) => Type.Optional(Type.Integer({ format: 'int32', default: value, description }))
const nextCursor = Nullable(Type.String({ description: 'Cursor of the next page; null on the last one' }))

export const TemplateTagsCount = Type.Object(
  { total: Type.Integer({ format: 'int64', description: 'Distinct tags that point to a ready build' }) },
  { title: 'TemplateTagsCountResponse' },
)

/** Query of `GET /templates/{templateID}/tags/exists`. */
export const TagExistsQuery = Type.Object({ tag: Type.String() })

export const TemplateTagExists = Type.Object(
  { exists: Type.Boolean(), normalizedTag: Type.String({ description: 'The stored form of the tag' }) },
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
  limit: Limit(TAG_ASSIGNMENTS_LIMITS.default, 'Maximum number of items a page, 100 at most'),
})

export const TemplateTagAssignments = Type.Object(
  { data: Type.Array(TemplateTagAssignment, { description: 'Newest first' }), nextCursor },
  { title: 'TemplateTagAssignmentsResponse' },
)

/** Query of `GET /templates/{templateID}/tags/groups`. */
export const TagGroupsQuery = Type.Object({
  assignmentLimit: Limit(TAG_GROUP_LIMITS.assignments.default, 'Assignments of each tag, 25 at most'),
  tagsLimit: Limit(TAG_GROUP_LIMITS.tags.default, 'Tags a page, 100 at most'),
  tagsCursor: Type.Optional(Cursor('The nextCursor of the previous page of the same sort')),
  search: Type.Optional(Type.String({ description: 'Substring of the tags' })),
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
