import type { WireRequest } from './exchange.ts'
import { target } from './rpc.ts'

/** A call with a raw body. */
export function rawCall(
  type: string | undefined,
  body: Buffer,
  more: WireRequest['headers'] = [],
  method: 'Stat' | 'WatchDir' = 'Stat',
): WireRequest {
  const types: WireRequest['headers'] = type === undefined ? [] : [['Content-Type', type]]
  return {
    method: 'POST',
    target: target(method),
    headers: [...types, ['Connect-Protocol-Version', '1'], ...more],
    body,
    waitMs: method === 'Stat' ? 2000 : 300,
  }
}
