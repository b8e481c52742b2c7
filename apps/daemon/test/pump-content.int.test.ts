import { once } from 'node:events'
import { lstat, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { FileContent } from '../src/files/file-content.ts'
import { countTransfers } from '../src/files/memory-share.ts'
import { pumpContent } from '../src/files/pump-content.ts'
import { useDaemon } from './support/daemon-fixture.ts'

const fixture = useDaemon()
const BYTES = 1024 * 1024

it('[daemon GET /files] ends a transfer whose connection was destroyed and has not emitted its close yet', async () => {
  const path = `${fixture.dir}/f`
  await writeFile(path, Buffer.alloc(BYTES))
  const content = await FileContent.open(path, await lstat(path, { bigint: true }))
  const outcome = Promise.withResolvers<unknown>()
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': BYTES }).flushHeaders()
    response.socket?.destroy()
    pumpContent(content, [content.start], response).then(outcome.resolve, outcome.resolve)
  }).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
      .on('error', () => undefined)
      .end()
    expect(await outcome.promise).toBeInstanceOf(Error)
    expect(countTransfers()).toBe(0)
  } finally {
    server.close()
  }
})
