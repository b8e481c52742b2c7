import { once } from 'node:events'
import type { Sandbox, SandboxOpts } from 'e2b'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { startServer } from '../support/sandbox-server.ts'
import { server } from '../support/server.ts'
import { daemonPort, headerForm, hostForm, throughProxy } from '../support/through-proxy.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const port = 8127
const resumed: SandboxOpts = { lifecycle: { onTimeout: 'pause', autoResume: true } }

function notFound({ sandboxId }: Sandbox): object {
  return { status: 502, text: JSON.stringify({ sandboxId, message: 'The sandbox was not found', code: 502 }) }
}

test('[proxy resume by traffic] requests and upgrades to a paused sandbox are answered by the service that goes on in it', async () => {
  await withSandbox(async (sandbox) => {
    await startServer(sandbox, port)
    const answer = await throughProxy(hostForm(sandbox, port), { path: '/' })
    for (let i = 0; i < 3; i++) {
      await sandbox.pause()
      expect(await throughProxy(hostForm(sandbox, port), { path: '/' })).toMatchObject({ status: answer.status })
    }
    expect(await sandbox.getInfo()).toMatchObject({ state: 'running' })

    await sandbox.pause()
    const socket = new WebSocket(new URL('/ws', server.sandboxUrl.replace(/^http/, 'ws')), { headers: hostForm(sandbox, port) })
    await once(socket, 'open')
    socket.send('hello')
    const [echoed] = (await once(socket, 'message')) as [Buffer]
    expect(echoed.toString()).toBe('hello')
    socket.terminate()

    await sandbox.pause()
    const together = await Promise.all(Array.from({ length: 20 }, () => throughProxy(hostForm(sandbox, port), { path: '/' })))
    expect(together.map(({ status }) => status)).toEqual(together.map(() => answer.status))
    expect((await sandbox.commands.run('echo awake')).stdout).toBe('awake\n')
  }, resumed)
})

test('[proxy resume by traffic] a secured daemon resumes only for its token', async () => {
  await withSandbox(async (sandbox) => {
    const { envdAccessToken: token = '' } = sandbox as unknown as { envdAccessToken?: string }
    await sandbox.pause()
    for (const headers of [{}, { 'x-access-token': 'x' }]) {
      const answer = await throughProxy(headerForm(sandbox, daemonPort), { path: '/envs', headers })
      expect(answer.status).toBe(403)
      expect(answer.text).toContain("This sandbox can't be resumed with the credentials provided.")
    }
    expect(await sandbox.getInfo()).toMatchObject({ state: 'paused' })
    const answer = await throughProxy(headerForm(sandbox, daemonPort), { path: '/envs', headers: { 'x-access-token': token } })
    expect(answer.status).toBe(200)
  }, resumed)
})

test('[proxy resume by traffic] a sandbox without auto-resume, or paused without its memory, stays paused', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.pause()
    expect(await throughProxy(hostForm(sandbox, port), { path: '/' })).toMatchObject(notFound(sandbox))
    expect(await sandbox.isRunning()).toBe(false)
    expect(await sandbox.getInfo()).toMatchObject({ state: 'paused' })
  })
  await withSandbox(async (sandbox) => {
    await sandbox.pause({ keepMemory: false })
    expect(await throughProxy(hostForm(sandbox, port), { path: '/' })).toMatchObject(notFound(sandbox))
    expect(await sandbox.getInfo()).toMatchObject({ state: 'paused' })
  }, resumed)
})

test('[proxy traffic token] [proxy masked host] the ports of users need the token, and the service sees the mask', async () => {
  const network = { allowPublicTraffic: false, maskRequestHost: 'localhost:${PORT}' }
  await withSandbox(
    async (sandbox) => {
      const echo = `python3 -c "
import http.server
class Echo(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write((self.headers['host'] + ' ' + self.headers['x-forwarded-host']).encode())
http.server.HTTPServer(('0.0.0.0', ${port}), Echo).serve_forever()"`
      await sandbox.commands.run(echo, { background: true, timeoutMs: 0 })
      expect((await throughProxy(hostForm(sandbox, port), { path: '/' })).status).toBe(403)
      const headers = { 'e2b-traffic-access-token': sandbox.trafficAccessToken ?? '' }
      await expect.poll(async () => (await throughProxy(hostForm(sandbox, port), { path: '/', headers })).status).toBe(200)
      const { text } = await throughProxy(hostForm(sandbox, port), { path: '/', headers })
      expect(text).toBe(`localhost:${port} ${sandbox.getHost(port)}`)
    },
    { network },
  )
})
