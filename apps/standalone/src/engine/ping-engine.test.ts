import { createServer } from 'node:net'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pingEngine } from './ping-engine.ts'

const socketPath = join(mkdtempSync(join(tmpdir(), 'ping-')), 'engine.sock')

it('distinguishes an engine that hangs from an absent one', async () => {
  expect(await pingEngine({ socketPath })).toMatchObject({ kind: 'silent' })
  // Reads its input, so that it sees the end of the other side, and never answers.
  await using server = createServer((socket) => socket.resume().on('error', () => undefined)).listen(socketPath)
  expect(server.listening).toBe(true)
  expect(await pingEngine({ socketPath, timeout: 100 })).toEqual({ kind: 'stuck' })
})
