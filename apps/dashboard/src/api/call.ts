import type { BinaryAnswer, BinaryBody } from '@sandyard/dashboard-contract/api-shape'
import type { DashboardApi, DashboardOperation } from '@sandyard/dashboard-contract/dashboard-api'
import { send } from './send.ts'

type Member<Op extends DashboardOperation, Name extends string> =
  DashboardApi[Op] extends Readonly<Record<Name, infer Value>> ? Value : undefined

type Sent<Body> = Body extends BinaryBody ? Blob | Uint8Array<ArrayBuffer> : Body

/** Binary answers are blobs. */
type Received<Answer> = Answer extends BinaryAnswer ? Blob : Answer

type Optional<Name extends string, Value> = undefined extends Value
  ? Readonly<Partial<Record<Name, undefined>>>
  : Readonly<Record<Name, Value>>

type OptionalQuery<Value> = undefined extends Value
  ? { readonly query?: undefined }
  : Partial<Value> extends Value
    ? { readonly query?: Value }
    : { readonly query: Value }

type CallOptions<Op extends DashboardOperation> = Optional<'params', Member<Op, 'params'>> &
  OptionalQuery<Member<Op, 'query'>> &
  Optional<'body', Sent<Member<Op, 'body'>>> & { readonly signal?: AbortSignal | undefined }

type Arguments<Op extends DashboardOperation> =
  Partial<CallOptions<Op>> extends CallOptions<Op> ? [options?: CallOptions<Op>] : [options: CallOptions<Op>]

/**
 * Calls an operation of the dashboard: `call('GET /sandboxes/{sandboxId}', { params: { sandboxId } })`.
 *
 * @throws ApiFailure with the message of the server; the abort reason
 */
export async function call<Op extends DashboardOperation>(
  operation: Op,
  ...[options]: Arguments<Op>
): Promise<Received<DashboardApi[Op]['answer']>> {
  const { params = {}, query, body, signal } = (options ?? {}) as { params?: object; query?: object; body?: unknown; signal?: AbortSignal }
  const [method = '', path = ''] = operation.split(' ')
  const values = new Map(Object.entries(params))
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name))))
  const response = await send(method, url, { query, body, signal })
  return (await read(response)) as Received<DashboardApi[Op]['answer']>
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined
  if (response.headers.get('content-type')?.startsWith('application/json') === true) return response.json()
  return response.blob()
}
