import { AppError } from '@sandyard/kit/errors/app-error'
import { parseTags } from '../../tags/parse-tags.ts'
import type { Team } from '../../teams/team.ts'
import { foreignNamespace } from '../../templates/template-errors.ts'
import { DEFAULT_TAG, parseReferenceAs } from '../../templates/template-reference.ts'
import { shorten } from '../../text/shorten.ts'

/** The name of a build in the team's namespace, and its tags. */
export interface BuildName {
  readonly alias: string
  /** At least one. */
  readonly tags: readonly string[]
}

/**
 * Parses the name of a build and its tags (control-plane.md 10.3).
 *
 * @throws AppError `invalid_argument`
 */
export function readBuildName(team: Team, name: string | undefined, tags: readonly string[] = []): BuildName {
  if (name === undefined) throw new AppError('invalid_argument', 'Name is required')
  const reference = parseReferenceAs('Invalid name', name)
  const all = parseTags(reference.tag === undefined ? tags : [reference.tag, ...tags])
  checkNamespace(team, reference.namespace)
  return { alias: reference.name, tags: all.length === 0 ? [DEFAULT_TAG] : all }
}

/**
 * Parses the alias of a first-generation build, which has no tags (control-plane.md 10.2).
 *
 * @throws AppError `invalid_argument`
 */
export function readLegacyAlias(team: Team, alias: string): string {
  const reference = parseReferenceAs('Invalid alias', alias)
  if (reference.tag !== undefined) throw new AppError('invalid_argument', `Invalid alias: invalid template ID: ${shorten(alias)}`)
  checkNamespace(team, reference.namespace)
  return reference.name
}

function checkNamespace(team: Team, namespace: string | undefined): void {
  if (namespace !== undefined && namespace !== team.slug) throw foreignNamespace(namespace, team.slug)
}
