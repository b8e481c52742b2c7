/** A client over TLS, in a process that trusts the authority of the test: `over-tls.ts <api key>`. Every name of the test is this machine. */
import dns from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import assert from 'node:assert/strict'
import { Sandbox } from 'e2b'
import { WebSocket } from 'ws'
import { DOMAIN, PORTS } from './project.ts'

type Answer = (err: Error | null, address: string | LookupAddress[], family?: number) => void
const lookup = dns.lookup as unknown as (host: string, options: LookupOptions, done: Answer) => void
const here = (host: string, options: LookupOptions, done: Answer): void => {
  if (!host.endsWith(DOMAIN)) return lookup(host, options, done)
  process.nextTick(() => (options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)))
}
Object.assign(dns, { lookup: here })

const ECHO = `
import asyncio, base64, hashlib
async def serve(reader, writer):
    head = (await reader.readuntil(b"\\r\\n\\r\\n")).decode()
    key = next(line.split(": ")[1] for line in head.split("\\r\\n") if line.lower().startswith("sec-websocket-key"))
    accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
    writer.write(f"HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: {accept}\\r\\n\\r\\n".encode())
    writer.write(b"\\x81\\x05hello"); await writer.drain(); await reader.read(100)
async def main():
    async with await asyncio.start_server(serve, "0.0.0.0", 8000) as server: await server.serve_forever()
asyncio.run(main())
`

const [apiKey = ''] = process.argv.slice(2)
const domain = `${DOMAIN}:${PORTS.https}`
const sandbox = await Sandbox.create({ apiKey, apiUrl: `https://api.${domain}`, domain, timeoutMs: 120_000 })
assert.equal(sandbox.getHost(8000), `8000-${sandbox.sandboxId}.${domain}`)
assert.equal((await sandbox.commands.run('echo over TLS')).stdout, 'over TLS\n')
const body = 'x'.repeat(20 * 1024 ** 2)
await sandbox.files.write('large', body)
assert.equal((await sandbox.files.read('large')).length, body.length)
await sandbox.files.write('echo.py', ECHO)
await sandbox.commands.run('python3 echo.py', { background: true })
await sandbox.commands.run('until timeout 1 bash -c "</dev/tcp/127.0.0.1/8000"; do :; done 2>/dev/null')
const socket = new WebSocket(`wss://${sandbox.getHost(8000)}/`)
const text = await new Promise<string>((resolve, reject) => {
  socket.once('message', (data: Buffer) => resolve(data.toString()))
  socket.once('error', reject)
})
assert.equal(text, 'hello')
socket.terminate()
await sandbox.kill()
