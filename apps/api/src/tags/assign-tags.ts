import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Database, Tx } from '@sandyard/db/database'
import { checkTemplateScope } from '../auth/key-scopes.ts'
import { appendEvent } from '../events/event-log.ts'
import type { Team } from '../teams/team.ts'
import { findInOwnNames } from '../templates/own-template.ts'
import { findReadyBuild } from '../templates/resolve-template.ts'
import { lockTemplate } from '../templates/template-queries.ts'
import { templateNotFound } from '../templates/template-errors.ts'
import { DEFAULT_TAG, parseReferenceAs } from '../templates/template-reference.ts'
import { shorten } from '../text/shorten.ts'
import { parseTags } from './parse-tags.ts'
import { foreignTemplate, noTags } from './tag-errors.ts'

export interface TagRequest {
  /** `name`, `name:tag` or `name:<build id>`. */
  readonly target: string
  readonly tags: readonly string[]
  /** Of the API key, if it has one. */
  readonly scope?: KeyScope | undefined
}

interface Assignment {
  readonly templateId: string
  readonly buildId: string
  readonly tags: readonly string[]
}

/**
 * Assigns tags to the build of the target, all or none. The checks run in the order of control-plane.md 12.1. Of two requests for one tag
 * the later one wins.
 *
 * @returns the normalised tags and their build
 * @throws AppError with the texts of control-plane.md 12.1
 */
export async function assignTags(database: Database, team: Team, request: TagRequest): Promise<{ tags: string[]; buildId: string }> {
  const { db } = database
  if (request.tags.length === 0) throw noTags()
  const reference = parseReferenceAs('Invalid target template format', request.target)
  const template = await findInOwnNames(db, team, reference)
  if (template === undefined) throw templateNotFound(reference)
  const { templateId } = template
  const build = await findReadyBuild(db, templateId, reference.tag)
  if (build === undefined) throw targetNotReady(request.target, reference.tag)
  if (template.teamId !== team.id) throw foreignTemplate(reference.key)
  checkTemplateScope(request.scope, template)
  const tags = parseTags(request.tags)
  const { buildId } = build
  await database.transaction(async (tx) => {
    await insertAssignments(tx, { templateId, buildId, tags })
    await appendEvent(tx, { teamId: team.id, kind: 'template.tagged', subject: templateId, data: { buildId, tags } })
  })
  return { tags, buildId }
}

async function insertAssignments(tx: Tx, { templateId, buildId, tags }: Assignment): Promise<void> {
  if (!(await lockTemplate(tx, templateId))) throw new AppError('not_found', `Template '${templateId}' not found`)
  await tx
    .insertInto('tag_assignment')
    .values(tags.map((tag) => ({ template_id: templateId, build_id: buildId, tag })))
    .execute()
}

function targetNotReady(target: string, tag: string = DEFAULT_TAG): AppError {
  return new AppError('not_found', `Template '${shorten(target)}' with tag '${shorten(tag)}' not found`)
}
