import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../apps/cli/src/main.ts')
const TIMEOUT_MS = 150_000

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

/** With the server of the environment. */
async function doctor(...args: readonly string[]): Promise<Report> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  execFile(process.execPath, [PROGRAM, 'doctor', '--json', ...args], { timeout: TIMEOUT_MS }, (err, stdout, stderr) =>
    stdout === '' ? reject(err ?? new Error(stderr)) : resolve(stdout),
  )
  return JSON.parse(await promise) as Report
}
