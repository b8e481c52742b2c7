import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

const buildID = Type.String({ format: 'uuid', description: 'Identifier of the build' })
/** A request with more tags is a mistake: each tag is a row. */
const MAX_TAGS = 100

const tags = (description: string) => Type.Array(Type.String(), { maxItems: MAX_TAGS, description })

/** Body of `POST /templates/tags` (control-plane.md 12.1). */
export const AssignTemplateTagsRequest = Type.Object(
  {
    target: Type.String({ description: 'Build to assign the tags to: name:tag, name alone, or name:build identifier' }),
    tags: tags('Tags to assign'),
  },
  { title: 'AssignTemplateTagsRequest' },
)
export type AssignTemplateTagsRequest = Static<typeof AssignTemplateTagsRequest>

export const AssignedTemplateTags = Type.Object(
  { tags: Type.Array(Type.String(), { description: 'The assigned tags' }), buildID },
  { title: 'AssignedTemplateTags' },
)
export type AssignedTemplateTags = Static<typeof AssignedTemplateTags>

/** Body of `DELETE /templates/tags` (control-plane.md 12.2). */
export const DeleteTemplateTagsRequest = Type.Object(
  { name: Type.String({ description: 'Name of the template, without a tag' }), tags: tags('Tags to delete') },
  { title: 'DeleteTemplateTagsRequest' },
)
export type DeleteTemplateTagsRequest = Static<typeof DeleteTemplateTagsRequest>

/** An item of `GET /templates/{templateID}/tags` (control-plane.md 12.3). */
export const TemplateTag = Type.Object(
  { tag: Type.String(), buildID, createdAt: DateTime('When it was assigned') },
  { title: 'TemplateTag' },
)
export type TemplateTag = Static<typeof TemplateTag>
