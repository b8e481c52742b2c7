import type { Db } from '@sandyard/db/database'
import { inProgress } from '../idempotency/idempotency-errors.ts'
import { isPublic } from '../sandboxes/network/stored-network.ts'
import type { SandboxAnswer } from '../sandboxes/read/sandbox-view.ts'

/** What a fork has reserved, in the transaction that ends the standstill of the sandbox. */
export interface RememberedFork {
  readonly sandboxIds: readonly string[]
  /** Why each of the others was not reserved. */
  readonly refused: readonly { readonly code: number; readonly message: string }[]
}

export type Forked = { readonly answer: SandboxAnswer } | { readonly error: { readonly code: number; readonly message: string } }

/**
 * The answer to a repeat of a fork: its sandboxes, as they are now.
 *
 * @throws AppError `conflict` while one of them starts
 */
export async function repeatFork(db: Db, teamId: string, { sandboxIds, refused }: RememberedFork): Promise<Forked[]> {
  const rows = await db
    .selectFrom('sandbox')
    .innerJoin('build', 'build.build_id', 'sandbox.build_id')
    .select(['sandbox_id', 'sandbox.template_id', 'alias', 'state', 'is_secure', 'network', 'envd_version'])
    .where('team_id', '=', teamId)
    .where('sandbox_id', 'in', [...sandboxIds, ''])
    .execute()
  if (rows.some(({ state }) => state === 'starting')) throw inProgress()
  const answers = new Map(
    rows
      .filter(({ state }) => state !== 'killing')
      .map((row): [string, SandboxAnswer] => [
        row.sandbox_id,
        {
          sandboxId: row.sandbox_id,
          templateId: row.template_id,
          alias: row.alias,
          envdVersion: row.envd_version,
          isSecure: row.is_secure,
          isPublic: isPublic(row.network),
        },
      ]),
  )
  const forks = sandboxIds.map((id): Forked => {
    const answer = answers.get(id)
    return answer === undefined ? { error: { code: 404, message: `The fork '${id}' did not start or has ended` } } : { answer }
  })
  return [...forks, ...refused.map((error) => ({ error }))]
}
