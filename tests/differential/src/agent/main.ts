/** Runs in a twin container beside the daemon, which is its child: `main.ts PORT DAEMON-PORT COMMAND...`. */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { buildTree } from './build-tree.ts'
import { DaemonProcess } from './daemon-process.ts'
import { type FileAction, performFileAction } from './file-action.ts'
import { PREPARED } from './prepared-tree.ts'
import { snapshotTree } from './snapshot-tree.ts'

const [port = '', daemonPort = '', ...command] = process.argv.slice(2)
const daemon = new DaemonProcess(command, Number(daemonPort))

const OPERATIONS: Readonly<Record<string, (body: unknown) => Promise<unknown>>> = {
  '/reset': () => buildTree(PREPARED),
  '/restart': () => daemon.restart(),
  '/snapshot': async () => ({ tree: await snapshotTree(), alive: daemon.isAlive() }),
  '/act': (body) => performFileAction(body as FileAction),
}

process.umask(0o022)
createServer((request, response) => {
  const operation = OPERATIONS[request.url ?? '']
  json(request)
    .then((body) => operation?.(body))
    .then((result) => response.end(JSON.stringify(result ?? null)))
    .catch((error: unknown) => response.writeHead(500).end(String(error)))
}).listen(Number(port), '0.0.0.0')
