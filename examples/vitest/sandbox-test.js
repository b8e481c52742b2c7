import { Sandbox } from 'e2b'
import { test } from 'vitest'

/** A `test` whose `sandbox` is created for each test that asks for it, and killed after it, also after a failure. */
export const sandboxTest = test.extend({
  /** Override it with `sandboxTest.extend({ template: 'my-template' })`. */
  template: 'base',
  sandbox: async ({ template, task }, use) => {
    const sandbox = await Sandbox.create(template, { timeoutMs: 120_000, metadata: { test: task.name } })
    try {
      await use(sandbox)
    } finally {
      await sandbox.kill()
    }
  },
})
