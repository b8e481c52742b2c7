import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { shorten } from '../text/shorten.ts'
import type { Team } from '../teams/team.ts'
import { isUsableBy, type ReadyBuild, type Template } from './template.ts'
import { findReadyBuildById, findReadyBuildByTag, findTemplateByAlias, findTemplateById } from './template-queries.ts'
import { DEFAULT_TAG, type TemplateReference } from './template-reference.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * Names of the base template elsewhere that mean ours (design.md 3a). They are looked up last, so that a team's own template
 * of the same name wins.
 */
const BASE_NAMESPACE = 'e2bdev'

/** The template that a reference names for a team, visible to it or not, in the order of control-plane.md 2.3. */
export async function findTemplate(db: Db, team: Team, reference: TemplateReference): Promise<Template | undefined> {
  const { namespace, name } = reference
  if (namespace !== undefined) {
    const named = await findTemplateByAlias(db, name, namespace)
    return named ?? (namespace === BASE_NAMESPACE ? findTemplateByAlias(db, name, null) : undefined)
  }
  return (
    (await findTemplateByAlias(db, name, team.slug)) ?? (await findTemplateByAlias(db, name, null)) ?? (await findTemplateById(db, name))
  )
}

/**
 * The template of a reference and the build that its tag, or the build id in the tag's place, stands for.
 *
 * @throws AppError `not_found` with the texts of control-plane.md 2.4; a template of another team is as if it did not exist
 */
export async function resolveTemplate(
  db: Db,
  team: Team,
  reference: TemplateReference,
): Promise<{ template: Template; build: ReadyBuild }> {
  const template = await findTemplate(db, team, reference)
  if (template === undefined || !isUsableBy(template, team.id)) {
    throw new AppError('not_found', `template '${shorten(reference.key)}' not found`)
  }
  const { tag } = reference
  const build =
    tag !== undefined && UUID.test(tag)
      ? await findReadyBuildById(db, template.templateId, tag)
      : await findReadyBuildByTag(db, template.templateId, tag)
  if (build === undefined) {
    throw new AppError('not_found', `tag '${shorten(tag ?? DEFAULT_TAG)}' does not exist for template '${shorten(reference.key)}'`)
  }
  return { template, build }
}
