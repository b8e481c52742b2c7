import type { Tx } from '@sandyard/db/database'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findAliasHolder } from '../../templates/template-queries.ts'

interface Claim {
  readonly alias: string
  readonly namespace: string
  readonly templateId: string
}

/**
 * Gives a template a name in its team's namespace. From then on it is the only renamable name of the template (control-plane.md 2.6). Does
 * nothing if the template has the name already.
 *
 * @throws AppError `conflict` for a name that is a template id, `permission_denied` for the name of another template
 */
export async function claimAlias(tx: Tx, { alias, namespace, templateId }: Claim): Promise<void> {
  const holder = await findAliasHolder(tx, alias, namespace)
  if (holder === templateId) return
  // Includes deleted templates: their ids stay reserved.
  const twin = await tx.selectFrom('template').select('template_id').where('template_id', '=', alias).executeTakeFirst()
  if (twin !== undefined) throw new AppError('conflict', `Alias '${alias}' is already used`)
  if (holder !== undefined) throw aliasTaken(alias)
  const inserted = await tx
    .insertInto('template_alias')
    .values({ alias, namespace, template_id: templateId, is_renamable: true })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (inserted.numInsertedOrUpdatedRows === 0n) throw aliasTaken(alias)
  await tx
    .deleteFrom('template_alias')
    .where('template_id', '=', templateId)
    .where('is_renamable', '=', true)
    .where((eb) => eb.not(eb.and([eb('alias', '=', alias), eb('namespace', '=', namespace)])))
    .execute()
}

function aliasTaken(alias: string): AppError {
  return new AppError('permission_denied', `Alias '${alias}' already used`)
}
