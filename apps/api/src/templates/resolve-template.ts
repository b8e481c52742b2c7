import type { Db } from '@sandyard/db/database'
import type { Team } from '../teams/team.ts'
import { isUsableBy, type ReadyBuild, type Template } from './template.ts'
import {
  findNamedBuild,
  findReadyBuildById,
  findReadyBuildByTag,
  findTemplateByAlias,
  findTemplateById,
  findTemplateOfTeam,
} from './template-queries.ts'
import { tagNotFound, templateNotFound } from './template-errors.ts'
import { isUuid, type TemplateReference } from './template-reference.ts'

/**
 * The namespace under which other services publish the base template (design.md 3a). It is looked up last, so that a team's own template of
 * the same name wins.
 */
export const BASE_NAMESPACE = 'e2bdev'

/** The template that a reference resolves to for a team, visible or not, in the order of control-plane.md 2.3. */
export async function findTemplate(db: Db, team: Team, reference: TemplateReference): Promise<Template | undefined> {
  const { namespace, name } = reference
  if (namespace !== undefined) {
    const named = await findTemplateByAlias(db, name, namespace)
    return named ?? (namespace === BASE_NAMESPACE ? findTemplateByAlias(db, name, null) : undefined)
  }
  return (await findTemplateOfTeam(db, name, team.slug)) ?? (await findTemplateById(db, name))
}

/**
 * The template of a reference, and the build of its tag or of the build id in place of the tag.
 *
 * @throws AppError `not_found` with the texts of control-plane.md 2.4, also for a template of another team
 */
export async function resolveTemplate(
  db: Db,
  team: Team,
  reference: TemplateReference,
): Promise<{ template: Template; build: ReadyBuild }> {
  const { namespace, name: alias, tag } = reference
  const isNamed = namespace === undefined && (tag === undefined || !isUuid(tag))
  const named = isNamed ? await findNamedBuild(db, { alias, namespace: team.slug, tag }) : undefined
  const template = named?.template ?? (await (isNamed ? findTemplateById(db, alias) : findTemplate(db, team, reference)))
  if (template === undefined || !isUsableBy(template, team.id)) {
    throw templateNotFound(reference)
  }
  const build = named === undefined ? await findReadyBuild(db, template.templateId, tag) : named.build
  if (build === undefined) throw tagNotFound(reference)
  return { template, build }
}

/** The build of a tag, or the build whose id is in place of the tag (control-plane.md 2.3). */
export async function findReadyBuild(db: Db, templateId: string, tag: string | undefined): Promise<ReadyBuild | undefined> {
  return tag !== undefined && isUuid(tag) ? findReadyBuildById(db, templateId, tag) : findReadyBuildByTag(db, templateId, tag)
}
