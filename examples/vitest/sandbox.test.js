import { describe, expect, test } from 'vitest'
import { sandboxTest } from './sandbox-test.js'

describe.concurrent('a program in a sandbox of its own', () => {
  sandboxTest('writes a file', async ({ sandbox, expect }) => {
    await sandbox.files.write('sort.sh', 'sort -n "$1"')
    await sandbox.files.write('numbers', '10\n9\n1\n')
    const { stdout } = await sandbox.commands.run('sh sort.sh numbers')
    expect(stdout).toBe('1\n9\n10\n')
  })

  sandboxTest('cannot see the files of another test', async ({ sandbox, expect }) => {
    expect(await sandbox.files.exists('numbers')).toBe(false)
  })
})

test('a test without the fixture creates no sandbox', () => {
  expect(1 + 1).toBe(2)
})
