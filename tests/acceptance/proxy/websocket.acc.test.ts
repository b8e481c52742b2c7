import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startServer } from '../support/sandbox-server.ts'
import { server } from '../support/server.ts'
import { headerForm, hostForm } from '../support/through-proxy.ts'
import { unknownSandboxId } from '../support/api.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const port = 8124

function connect(headers: Record<string, string>): WebSocket {
  return new WebSocket(new URL('/ws', server.sandboxUrl.replace(/^http/, 'ws')), { headers })
}

async function echo(socket: WebSocket, data: string | Buffer): Promise<Buffer> {
  socket.send(data)
  const [answer] = (await once(socket, 'message')) as [Buffer]
  return answer
}

describe('[proxy upgrade]', () => {
  test.each([
    ['host form', hostForm],
    ['header form', headerForm],
  ] as const)('carries a WebSocket both ways, addressed by %s', async (_, form) => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const socket = connect(form(sandbox, port))
      await once(socket, 'open')
      const large = randomBytes(300_000)
      expect((await echo(socket, 'hällo')).toString()).toBe('hällo')
      expect((await echo(socket, large)).equals(large)).toBe(true)
      socket.close(4001, 'bye')
      const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
      expect([code, reason.toString()]).toEqual([4001, 'bye'])
    })
  })

  test('closes a WebSocket when the sandbox is killed', async () => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const socket = connect(hostForm(sandbox, port))
      await once(socket, 'open')
      const closed = once(socket, 'close')
      await sandbox.kill()
      expect((await closed)[0]).toBe(1006)
    })
  })

  test('returns the error of the proxy for an upgrade that reaches no server', async () => {
    await withSandbox(async (sandbox) => {
      const failures = [connect(headerForm(sandbox, 9)), connect(headerForm({ sandboxId: unknownSandboxId }, port))]
      const errors = await Promise.all(failures.map(async (socket) => String((await once(socket, 'error'))[0])))
      expect(errors).toEqual(Array(2).fill('Error: Unexpected server response: 502'))
    })
  })
})
