import { once } from 'node:events'
import { createServer } from 'node:net'

/** A port without a listener at this moment. Another process may take it before the caller does. @param host - default: loopback */
export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('a probe of a TCP port has no address')
  return address.port
}
