import type { TObject } from 'typebox'
import type { OperationId } from '@sandyard/api-contract/operations'
import type { Tx } from '@sandyard/db/database'
import { NIL_UUID } from '@sandyard/kit/ids/uuid'
import type { AppContext } from '../context.ts'
import { createOnce } from '../idempotency/create-once.ts'
import { idempotentOperation } from '../idempotency/idempotency-header.ts'

export interface AdminCreate {
  readonly operationId: OperationId
  readonly key: string | undefined
  readonly schema: TObject
  readonly body: unknown
}

/** A create of an administrator, at most once for each idempotency key. All administrators have the same credential, so they share the keys. */
export async function createOnceAsAdmin<T>(ctx: AppContext, create: AdminCreate, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { operationId, key, schema, body } = create
  const { tokenSeed } = ctx.installation
  const once = idempotentOperation(operationId, { headers: { 'idempotency-key': key }, body }, { tokenSeed, schema })
  return createOnce(ctx.database, { ...once, tokenSeed, ownerId: NIL_UUID }, work)
}
