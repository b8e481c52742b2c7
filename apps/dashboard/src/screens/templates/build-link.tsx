import type { TemplateTagAssignment } from '@sandyard/api-contract/templates/tag-history'
import { paths } from '../../frame/paths.ts'

export function BuildLink({ assignment }: { readonly assignment: TemplateTagAssignment | undefined }) {
  if (assignment === undefined) return <span>–</span>
  return (
    <a class="mono" href={paths.build(assignment.buildId)}>
      {assignment.buildId.slice(0, 8)}
    </a>
  )
}
