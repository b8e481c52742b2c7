import { AppError } from '@sandyard/kit/errors/app-error'
import type { Db } from '@sandyard/db/database'
import { findTeamForOwner, getActingTeam } from '../auth/acting-team.ts'
import { checkTemplateScope } from '../auth/key-scopes.ts'
import type { Principal } from '../auth/principal.ts'
import type { Team } from '../teams/team.ts'
import { shorten } from '../text/shorten.ts'
import { findTemplate } from './resolve-template.ts'
import type { Template } from './template.ts'
import { foreignNamespace, templateNotFound } from './template-errors.ts'
import { findDeletedTemplate, findTemplateById } from './template-queries.ts'
import { parseReferenceAs, type TemplateReference } from './template-reference.ts'

interface OwnTemplateOptions {
  /** Blocked teams may call the operation (control-plane.md 1.10). */
  readonly mayBeBlocked?: boolean
  /** A user without a key may use names, which belong to the user's default team. */
  readonly mayUserNameIt?: boolean
  /** Ids of deleted templates are found, too. */
  readonly mayBeDeleted?: boolean
}

/**
 * The template that a request changes, and the team that it acts for. A tag in `text` is ignored.
 *
 * @throws AppError with the texts of control-plane.md 9.5 and 9.6: `invalid_argument` for an invalid reference or a foreign namespace,
 * `not_found`, and `permission_denied` for a template of another team or outside the scope of the key
 */
export async function getOwnTemplate(
  db: Db,
  principal: Principal | null,
  text: string,
  options: OwnTemplateOptions = {},
): Promise<{ team: Team; template: Template }> {
  const reference = parseReferenceAs('Invalid template ID', text)
  const { mayBeBlocked = false, mayBeDeleted = false } = options
  const present = await find(db, principal, reference, options)
  const template = present ?? (mayBeDeleted ? await findDeleted(db, reference) : undefined)
  const team = template && (await findTeamForOwner(db, principal, { ownerId: template.teamId, mayBeBlocked }))
  if (template !== undefined && team !== undefined) {
    checkTemplateScope(principal?.scope, template)
    return { team, template }
  }
  if (present === undefined) throw templateNotFound(reference)
  throw new AppError('permission_denied', `You don't have access to template '${shorten(reference.key)}'`)
}

async function findDeleted(db: Db, { namespace, name }: TemplateReference): Promise<Template | undefined> {
  return namespace === undefined ? findDeletedTemplate(db, name) : undefined
}

async function find(
  db: Db,
  principal: Principal | null,
  reference: TemplateReference,
  { mayBeBlocked = false, mayUserNameIt = false }: OwnTemplateOptions,
): Promise<Template | undefined> {
  if (principal?.team === undefined) {
    const byId = reference.namespace === undefined ? await findTemplateById(db, reference.name) : undefined
    if (byId !== undefined || !mayUserNameIt) return byId
  }
  return findInOwnNames(db, await getActingTeam(db, principal, { mayBeBlocked }), reference)
}

/**
 * Resolves a reference for a change: only the team's own namespace is accepted (control-plane.md 2.2). The template may still belong to
 * another team.
 *
 * @throws AppError `invalid_argument` for a foreign namespace
 */
export async function findInOwnNames(db: Db, team: Team, reference: TemplateReference): Promise<Template | undefined> {
  const { namespace } = reference
  if (namespace !== undefined && namespace !== team.slug) throw foreignNamespace(namespace, team.slug)
  return findTemplate(db, team, reference)
}
