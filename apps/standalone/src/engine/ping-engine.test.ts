import { createServer } from 'node:net'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pingEngine } from './ping-engine.ts'

const socketPath = join(mkdtempSync(join(tmpdir(), 'ping-')), 'engine.sock')

it('tells an engine that hangs from one that is not there', async () => {
  expect(await pingEngine({ socketPath })).toMatchObject({ kind: 'silent' })
  // Reads what it is sent, so that it sees the other side end, and says nothing.
  await using server = createServer((socket) => socket.resume().on('error', () => undefined)).listen(socketPath)
  expect(server.listening).toBe(true)
  expect(await pingEngine({ socketPath, timeout: 100 })).toEqual({ kind: 'stuck' })
})
