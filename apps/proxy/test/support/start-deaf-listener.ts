import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

export interface DeafListener extends AsyncDisposable {
  readonly port: number
}

/** Listens, prints its port, and never accepts: with a full queue a connection to it neither succeeds nor fails. */
const SCRIPT = `
  const server = require('node:net').createServer()
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
const QUEUE = 4

export async function startDeafListener(): Promise<DeafListener> {
  const child = spawn(process.execPath, ['-e', SCRIPT], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = (await once(child.stdout, 'data')) as [Buffer]
  const port = Number(text.toString())
  const queued = Array.from({ length: QUEUE }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  await Promise.race(queued.map((socket) => once(socket, 'connect')))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.destroy()
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
