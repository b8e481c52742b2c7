import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { startServer } from '../support/sandbox-server.ts'
import { server } from '../support/server.ts'
import { headerForm, hostForm, streamThroughProxy, throughProxy } from '../support/through-proxy.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const port = 8123

/** The request that the server in the sandbox received. */
interface Seen {
  readonly method: string
  readonly path: string
  readonly headers: [string, string][]
  readonly body: string
}

async function nextChunk(stream: IncomingMessage): Promise<string> {
  const arrived = once(stream, 'data') as Promise<[Buffer]>
  stream.resume()
  const [chunk] = await arrived
  stream.pause()
  return chunk.toString()
}

describe.each([
  ['[proxy host form]', hostForm],
  ['[proxy header form]', headerForm],
] as const)('%s', (_, form) => {
  test('passes a request to a server in the sandbox and its answer back unchanged', async () => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const path = '/a%2Fb/%C3%A4//c?x=1&x=%20+&y'
      const body = 'bödy'
      const headers = { 'x-own': 'value', cookie: 'k=v', authorization: 'Bearer t', 'content-length': String(Buffer.byteLength(body)) }
      const answer = await throughProxy(form(sandbox, port), { method: 'PATCH', path, body, headers })
      expect(answer.status).toBe(418)
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] })

      const seen = JSON.parse(answer.text) as Seen
      expect(seen).toMatchObject({ method: 'PATCH', path, body: Buffer.from(body).toString('latin1') })
      const received = Object.fromEntries(seen.headers)
      expect(received).toMatchObject({ 'x-own': 'value', cookie: 'k=v', authorization: 'Bearer t' })
      expect(received['host']).toBe(hostFor(form(sandbox, port)))
    })
  })

  test('streams an answer while the server writes it', async () => {
    await withSandbox(async (sandbox) => {
      await sandbox.commands.run('mkfifo /tmp/gate')
      await startServer(sandbox, port)
      const answer = await streamThroughProxy(form(sandbox, port), { path: '/gated' })
      expect(await nextChunk(answer)).toBe('first\n')
      await sandbox.commands.run('echo > /tmp/gate')
      expect(await nextChunk(answer)).toBe('second\n')
    })
  })

  test('streams a request while the client sends it', async () => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const call = open(form(sandbox, port), 'POST', '/repeat')
      call.write('one')
      const [answer] = (await once(call, 'response')) as [IncomingMessage]
      expect(await nextChunk(answer)).toBe('one')
      call.write('two')
      expect(await nextChunk(answer)).toBe('two')
      call.end()
      answer.resume()
      await once(answer, 'end')
    })
  })

  test('closes the connection to the server when the client disconnects', async () => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const answer = await streamThroughProxy(form(sandbox, port), { path: '/hold' })
      expect(await nextChunk(answer)).toBe('first\n')
      expect(await sandbox.files.exists('/tmp/hung-up')).toBe(false)
      answer.destroy()
      await expect.poll(() => sandbox.files.exists('/tmp/hung-up'), { timeout: 10_000 }).toBe(true)
    })
  })

  test('aborts an open answer when the sandbox is killed', async () => {
    await withSandbox(async (sandbox) => {
      await startServer(sandbox, port)
      const answer = await streamThroughProxy(form(sandbox, port), { path: '/hold' })
      expect(await nextChunk(answer)).toBe('first\n')
      const cut = once(answer, 'error')
      answer.resume()
      await sandbox.kill()
      await cut
      expect(answer.complete).toBe(false)
    })
  })
})

function open(form: Record<string, string>, method: string, path: string): ClientRequest {
  const { hostname, port } = new URL(server.sandboxUrl)
  return request({ hostname, port, method, path, headers: form, agent: false, signal: AbortSignal.timeout(60_000) })
}

function hostFor(form: Record<string, string>): string {
  return form['host'] ?? new URL(server.sandboxUrl).host
}
