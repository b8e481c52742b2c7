/**
 * A process that does only the file work of a daemon over `node:http`: POST into `<directory>/copy`, GET from it,
 * `/stat` and `/list` as JSON, `/health` without a body. It prints its port and ends with its parent.
 *
 * usage: bare-server.ts <directory> [host] [port]
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const [directory = '', host = '127.0.0.1', port = '0'] = process.argv.slice(2)
const file = join(directory, 'copy')

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.url === '/health') return void res.writeHead(204).end()
  if (req.url === '/stat') return sendJson(res, await describe(file))
  if (req.url === '/list') {
    const folder = join(directory, 'many')
    return sendJson(res, await Promise.all((await readdir(folder)).map((name) => describe(join(folder, name)))))
  }
  await copy(req, res)
}

async function copy(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method === 'POST') {
    await pipeline(req, createWriteStream(file))
    res.end()
    return
  }
  res.setHeader('Content-Length', (await stat(file)).size)
  await pipeline(createReadStream(file), res)
}

async function describe(path: string): Promise<unknown> {
  const { size, mode, uid, gid, mtime } = await lstat(path)
  return { path, size, mode, uid, gid, mtime }
}

function sendJson(res: ServerResponse, value: unknown): void {
  const text = JSON.stringify(value)
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()))
server.listen(Number(port), host, () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.stdin.resume().once('end', () => process.exit())
