import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, which would take such a port before its user does. */
const [FIRST, COUNT] = [20_000, 12_000]
const TRIES = 20

/** A random port without a listener at this moment. @param host - default: loopback. @throws the error of the last try */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    const probe = createServer()
    try {
      probe.listen(port, host)
      await once(probe, 'listening')
      probe.close()
      await once(probe, 'close')
      return port
    } catch (err) {
      if (tries === TRIES) throw err
    }
  }
}
