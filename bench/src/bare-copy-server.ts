/** A process that does nothing but copy over loopback: POST into a file, GET out of it. It says its port and ends with its parent. */
import { createReadStream, createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

const [file = ''] = process.argv.slice(2)

async function copy(req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method === 'POST') {
    await pipeline(req, createWriteStream(file))
    res.end()
    return
  }
  res.setHeader('Content-Length', (await stat(file)).size)
  await pipeline(createReadStream(file), res)
}

const server = createServer((req, res) => void copy(req, res).catch(() => res.destroy()))
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
process.stdin.resume().once('end', () => process.exit())
