import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { parsedMessage } from '../../test/support/parsed-message.ts'
import { parseInbound, type Inbound } from './parse-inbound.ts'

const headerHosts = new Set<string>()

function preflight(names: string): Inbound {
  const req = Object.assign(parsedMessage('OPTIONS', ['Host', 'localhost', 'Access-Control-Request-Headers', names]), { url: '/x' })
  return parseInbound(req, { headerHosts })
}

describe('a preflight that names no sandbox', () => {
  it.each(['x-access-token', 'content-type, X-Access-Token', 'a ,x-access-token\t, b'])('is for a daemon when it announces %j', (names) => {
    expect(preflight(names).place).toEqual({ sandboxId: undefined, port: 49_983, proof: undefined })
  })

  it.each(['', 'x-access-token-2', 'x-access-token x'])('is refused when it announces %j', (names) => {
    expect(() => preflight(names)).toThrow('bad_request')
  })

  it('is refused before the deadline of the test when a name has as many blanks as a head can have', { timeout: 5000 }, async () => {
    expect(() => preflight(`a${' '.repeat(60_000)}b`)).toThrow('bad_request')
    // The deadline counts only when the event loop turns.
    await setImmediate()
  })
})
