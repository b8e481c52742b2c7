import type { Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { checkStorable } from '../builds/start/check-storable.ts'
import { TEAM_COLUMNS, type TeamRow } from './team-rows.ts'
import { teamSlug } from './team-slug.ts'

export interface NewTeam {
  readonly name: string
  readonly email: string
  /** Default: made from the name. */
  readonly slug?: string
}

/** @throws AppError `already_exists` for a slug that another team has; `invalid_argument` for texts that cannot be stored */
export async function createTeam(tx: Tx, { name, email, slug = teamSlug(name) }: NewTeam): Promise<TeamRow> {
  checkStorable({ name, email })
  const row = await tx
    .insertInto('team')
    .values({ name, email, slug })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returning(TEAM_COLUMNS)
    .executeTakeFirst()
  if (row === undefined) throw new AppError('already_exists', `A team with the slug '${slug}' exists`)
  return row
}
