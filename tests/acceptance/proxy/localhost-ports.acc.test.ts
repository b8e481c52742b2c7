import type { Sandbox } from 'e2b'
import { expect, test } from 'vitest'
import { headerForm, hostForm, throughProxy } from '../support/through-proxy.ts'
import { withSandbox } from '../support/with-sandbox.ts'

const port = 3210

/** A program that reads addresses line by line and listens on one at a time, all in one process. */
const RELISTENER = `
import sys, threading, http.server
for line in sys.stdin:
    server = http.server.ThreadingHTTPServer((line.strip(), ${port}), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print('listening', flush=True)
    sys.stdin.readline()
    server.shutdown()
    server.server_close()
    print('closed', flush=True)
`

async function ask(sandbox: Sandbox, form: typeof hostForm | typeof headerForm = hostForm): Promise<number | object> {
  const { status, text } = await throughProxy(form(sandbox, port), { path: '/' })
  return status === 502 ? (JSON.parse(text) as object) : status
}

function closed({ sandboxId }: Sandbox): object {
  return { sandboxId, message: 'The sandbox is running but port is not open', port, code: 502 }
}

/** Retries for as long as users of the SDK do; the proxy itself waits for one second. */
async function isReached(sandbox: Sandbox): Promise<void> {
  await expect.poll(() => ask(sandbox), { timeout: 20_000 }).toBe(200)
  expect(await ask(sandbox, headerForm)).toBe(200)
}

test('[proxy host form] [proxy header form] servers are reached on every bind address while they listen (envd.md 18.84)', async () => {
  await withSandbox(async (sandbox) => {
    for (const address of ['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '127.0.0.1']) {
      const server = await sandbox.commands.run(`exec python3 -m http.server ${port} --bind ${address}`, { background: true })
      await isReached(sandbox)
      await server.kill()
      await expect.poll(() => ask(sandbox), { timeout: 20_000 }).toEqual(closed(sandbox))
    }
  })
})

test('[proxy host form] a server may move between localhost and all addresses, in one process (envd.md 18.84)', async () => {
  await withSandbox(async (sandbox) => {
    await sandbox.files.write('/tmp/relistener.py', RELISTENER)
    const server = await sandbox.commands.run('exec python3 /tmp/relistener.py 2>/tmp/relistener.log', {
      background: true,
      stdin: true,
      timeoutMs: 0,
    })
    let said = ''
    for (const address of ['127.0.0.1', '0.0.0.0', '127.0.0.1', '127.0.0.1']) {
      await sandbox.commands.sendStdin(server.pid, `${address}\n`)
      said += 'listening\n'
      await expect.poll(() => server.stdout, { timeout: 20_000 }).toBe(said)
      expect(await ask(sandbox)).toBe(200)
      await sandbox.commands.sendStdin(server.pid, '\n')
      said += 'closed\n'
      await expect.poll(() => server.stdout, { timeout: 20_000 }).toBe(said)
      expect(await ask(sandbox)).toEqual(closed(sandbox))
    }
  })
})
