import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Database, Tx } from '@sandyard/db/database'
import { checkTemplateScope } from '../auth/key-scopes.ts'
import { appendEvent } from '../events/event-log.ts'
import type { Team } from '../teams/team.ts'
import { findInOwnNames } from '../templates/own-template.ts'
import { templateNotFound } from '../templates/template-errors.ts'
import { DEFAULT_TAG, parseReferenceAs } from '../templates/template-reference.ts'
import { parseTags } from './parse-tags.ts'
import { foreignTemplate, noTags } from './tag-errors.ts'

export interface TagRemoval {
  readonly name: string
  readonly tags: readonly string[]
  /** Of the API key, if it has one. */
  readonly scope?: KeyScope | undefined
}

/**
 * Deletes tags of a template with their whole history; unknown tags are ignored. The checks run in the order of control-plane.md 12.2.
 *
 * @throws AppError with the texts of control-plane.md 12.2
 */
export async function deleteTags(database: Database, team: Team, request: TagRemoval): Promise<void> {
  const tags = parseTags(request.tags)
  if (tags.length === 0) throw noTags()
  if (tags.includes(DEFAULT_TAG)) throw new AppError('invalid_argument', `Cannot delete the '${DEFAULT_TAG}' tag`)
  const reference = parseReferenceAs('Invalid template name format', request.name)
  if (reference.tag !== undefined) {
    throw new AppError('invalid_argument', "Template name should not contain a tag, use the 'tags' field instead")
  }
  const template = await findInOwnNames(database.db, team, reference)
  if (template === undefined) throw templateNotFound(reference)
  if (template.teamId !== team.id) throw foreignTemplate(reference.key)
  checkTemplateScope(request.scope, template)
  await database.transaction((tx) => deleteAssignments(tx, { teamId: team.id, templateId: template.templateId, tags }))
}

async function deleteAssignments(
  tx: Tx,
  { teamId, templateId, tags }: { teamId: string; templateId: string; tags: string[] },
): Promise<void> {
  const deleted = await tx
    .deleteFrom('tag_assignment')
    .where('template_id', '=', templateId)
    .where('tag', 'in', tags)
    .returning('tag')
    .execute()
  if (deleted.length === 0) return
  const gone = [...new Set(deleted.map(({ tag }) => tag))]
  await appendEvent(tx, { teamId, kind: 'template.untagged', subject: templateId, data: { tags: gone } })
}
