import type { TemplateTagAssignment, TemplateTagGroup } from '@sandyard/api-contract/templates/tag-history'
import type { TemplateTag } from '@sandyard/api-contract/templates/tags'
import type { AssignmentRow } from './ready-assignments.ts'
import type { TagGroup } from './tag-groups.ts'

export function toTemplateTag(row: Pick<AssignmentRow, 'tag' | 'build_id' | 'created_at'>): TemplateTag {
  return { tag: row.tag, buildID: row.build_id, createdAt: row.created_at.toISOString() }
}

export function toTagAssignment(row: AssignmentRow): TemplateTagAssignment {
  return {
    assignmentId: row.assignment_id,
    buildId: row.build_id,
    assignedAt: row.created_at.toISOString(),
    buildCreatedAt: row.build_created_at.toISOString(),
    buildFinishedAt: row.build_finished_at?.toISOString() ?? null,
  }
}

export function toTagGroup({ tag, assignments, hasMore }: TagGroup): TemplateTagGroup {
  return { tag, assignments: assignments.map(toTagAssignment), hasMore }
}
