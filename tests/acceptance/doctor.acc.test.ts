import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { sandyard } from './support/sandyard.ts'

interface Report {
  readonly checks: readonly { readonly id: string; readonly level: string; readonly found: string }[]
}

test('sandyard doctor --deep finds a real server well from inside of its sandboxes', async () => {
  const { checks } = await doctor('--deep', '--only', 'E4,E6,N6,R5')
  const found = new Map(checks.map(({ id, level, found }) => [id, `${level}: ${found}`]))
  expect(found.get('E4')).toMatch(/^ok: sandboxes run on/)
  expect(found.get('E6')).toMatch(/^ok: denied: AF_VSOCK, AF_PACKET, a user namespace, io_uring, keyctl, bpf, mount$/)
  // Without a network outside there is no allow control; what must be refused is refused in both cases.
  expect(found.get('N6')).toMatch(/^(?:ok|skipped): .*metadata, host, API, Postgres and a sibling (?:are|were) refused/)
  expect(found.get('R5')).toMatch(
    /^ok: create \d+ ms, true \d+ ms, write \d+ ms, read \d+ ms, port by header \d+ ms, port by host \d+ ms, kill/,
  )
})

async function doctor(...args: readonly string[]): Promise<Report> {
  const { stdout } = await sandyard(tmpdir(), ['doctor', '--json', ...args])
  return JSON.parse(stdout) as Report
}
