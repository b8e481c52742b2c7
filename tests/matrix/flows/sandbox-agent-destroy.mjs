/** What the E2B provider of every release of sandbox-agent does with a sandbox that exists. */
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'
import { e2b } from 'sandbox-agent/e2b'
import { finish, step } from './steps.mjs'

const provider = e2b()
const { sandboxId } = await step('create', () => Sandbox.create('base', { timeoutMs: 100_000 }))
try {
  await step('get the address of the agent', async () =>
    assert.match(await provider.getUrl(sandboxId), new RegExp(`^https://3000-${sandboxId}\\.`)),
  )
  await step('destroy', () => provider.destroy(sandboxId))
  // 0.4.0 kills the sandbox, 0.4.2 pauses it.
  await step('run no more', async () => {
    const running = await Sandbox.list({ query: { state: ['running'] } }).nextItems()
    assert.ok(!running.some((found) => found.sandboxId === sandboxId))
  })
} finally {
  await Sandbox.kill(sandboxId)
}
finish()
