import { send, type SendOptions } from './send.ts'

export interface WireAnswer<Answer> {
  readonly data: Answer
  /** Of a list: the token of the next page. */
  readonly nextToken: string | null
}

/**
 * Calls an operation of the control plane as the session's team: `wire<Sandbox[]>('GET', '/v2/sandboxes', { query: { limit: 100 } })`. The types of the
 * answers are those of @sandyard/api-contract (`import type`).
 *
 * @throws ApiFailure with the message of the server; the abort reason
 */
export async function wire<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: `/${string}`,
  options: SendOptions = {},
): Promise<WireAnswer<Answer>> {
  const response = await send(method, `/wire${path}`, options)
  const text = await response.text()
  return { data: (text === '' ? undefined : JSON.parse(text)) as Answer, nextToken: response.headers.get('x-next-token') }
}
