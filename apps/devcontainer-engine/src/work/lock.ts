import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { pollUntil } from '@sandyard/kit/async/poll-until'

const WAIT_MS = 60_000
const POLL_MS = 50

/**
 * Lets one process at a time work under the name. The lock is a name in the abstract namespace of sockets: the kernel gives it back when its process
 * ends, however it ends.
 *
 * @throws AppError `deadline_exceeded` when another process has it for a minute
 */
export async function withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const server = await pollUntil({ what: `another command on the ${name}`, timeoutMs: WAIT_MS, everyMs: POLL_MS }, () =>
    tryToListen(`\0devcontainer-engine/${name}`),
  )
  try {
    return await work()
  } finally {
    server.close()
  }
}

async function tryToListen(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy())
  try {
    server.listen({ path })
    await once(server, 'listening')
    return server
  } catch (err) {
    if (err instanceof Error && 'code' in err && err.code === 'EADDRINUSE') return undefined
    throw err
  }
}
