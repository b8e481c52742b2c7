import type { Db } from '@sandyard/db/database'
import type { Team } from '../teams/team.ts'
import { findTemplate } from '../templates/resolve-template.ts'
import type { Template } from '../templates/template.ts'
import { templateNotFound } from '../templates/template-errors.ts'
import { parseReferenceAs } from '../templates/template-reference.ts'
import { foreignTemplate } from './tag-errors.ts'

/**
 * The team's template, by id or name, to read its tags; a tag in the reference is ignored (control-plane.md 12.3).
 *
 * @throws AppError `invalid_argument`, `not_found`, and `permission_denied` for a template of another team
 */
export async function getTaggedTemplate(db: Db, team: Team, text: string): Promise<Template> {
  const { template } = await find(db, team, text)
  if (template.teamId !== team.id) throw foreignTemplate(text)
  return template
}

/**
 * The same for the operations of clients-python-2.63.md 7, for which a template of another team does not exist.
 *
 * @throws AppError `invalid_argument` and `not_found`
 */
export async function getVisibleTemplate(db: Db, team: Team, text: string): Promise<Template> {
  const { template, reference } = await find(db, team, text)
  if (template.teamId !== team.id) throw templateNotFound(reference)
  return template
}

async function find(db: Db, team: Team, text: string) {
  const reference = parseReferenceAs('Invalid template reference', text)
  const template = await findTemplate(db, team, reference)
  if (template === undefined) throw templateNotFound(reference)
  return { template, reference }
}
