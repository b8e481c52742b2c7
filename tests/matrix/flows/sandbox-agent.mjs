/** The E2B provider of sandbox-agent, with a sandbox that exists: its own `create` downloads a program from a web site. */
import assert from 'node:assert/strict'
import { Sandbox } from '@e2b/code-interpreter'
import { e2b } from 'sandbox-agent/e2b'
import { finish, step } from './steps.mjs'

const provider = e2b({ timeoutMs: 100_000 })
const { sandboxId } = await step('create', () => Sandbox.create('base', { timeoutMs: 100_000 }))
try {
  await step('reconnect', () => provider.reconnect(sandboxId))
  await step('get the address of the agent', async () =>
    assert.match(await provider.getUrl(sandboxId), new RegExp(`^https://3000-${sandboxId}\\.`)),
  )
  await step('pause', async () => {
    await provider.pause(sandboxId)
    assert.equal((await Sandbox.getInfo(sandboxId)).state, 'paused')
  })
  await step('reconnect to the paused one', async () => {
    await provider.reconnect(sandboxId)
    assert.equal((await Sandbox.getInfo(sandboxId)).state, 'running')
  })
} finally {
  await step('kill', () => provider.kill(sandboxId))
}
await step('be refused with its own error', () => assert.rejects(provider.reconnect(sandboxId), { name: 'SandboxDestroyedError' }))
finish()
