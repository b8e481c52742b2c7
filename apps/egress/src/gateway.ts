import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { EgressContext } from './context.ts'
import { serveConnection } from './connections/serve-connection.ts'
import { listenDns } from './dns/dns-server.ts'

/** The sockets of the gateway on one address. */
export interface Listening extends AsyncDisposable {
  readonly tcpPort: number
  readonly dnsPort: number
}

/**
 * Listens for redirected connections and lookups on the address to which the packet rules redirect them, and on no other.
 *
 * @throws the error of the system when the address or a port is not available
 */
export async function listenOn(ctx: EgressContext, host: string): Promise<Listening> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (socket) => {
    serveConnection(ctx, socket).catch((err: unknown) => {
      ctx.log.error({ err }, 'a connection of a sandbox was not served')
      socket.destroy()
    })
  })
  server.listen(ctx.config.tcpPort, host)
  await once(server, 'listening')
  server.on('error', (err) => ctx.log.warn({ err }, 'a connection of a sandbox was not accepted'))
  try {
    const dns = await listenDns(ctx, host, ctx.config.dnsPort)
    return {
      tcpPort: (server.address() as AddressInfo).port,
      dnsPort: dns.port,
      async [Symbol.asyncDispose]() {
        // Connections go on; those that are served end with the tracker.
        server.close()
        await dns[Symbol.asyncDispose]()
      },
    }
  } catch (err) {
    server.close()
    throw err
  }
}

/** Lets open connections continue for `drainMs`, then resets them. */
export async function drain(ctx: EgressContext): Promise<void> {
  const drained = { what: 'open connections', timeoutMs: ctx.config.drainMs, everyMs: 20 }
  await pollUntil(drained, () => (ctx.tracker.count === 0 ? true : undefined)).catch(() => undefined)
  ctx.tracker.resetAll()
  // The resets must reach their sockets before the process ends.
  await delay(0)
}
