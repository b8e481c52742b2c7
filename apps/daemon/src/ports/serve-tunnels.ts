import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { DaemonContext } from '../context.ts'

/**
 * Lets the proxy reach servers that listen on localhost only, each by a `CONNECT` on the daemon's own port (envd.md 9,
 * docs/decisions/008-localhost-ports.md). No extra port is opened.
 *
 * The digest of the proxy's secret comes by `/init`. A daemon without a platform has none, and serves no tunnels.
 *
 * @param onEnd called at the end of each tunnel
 */
export function serveTunnels(server: Server, { config, state, shutdown, log }: DaemonContext, onEnd: () => void): void {
  if (config.instanceFile === undefined) return
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Without a listener an error would end the daemon; the `close` event follows and is handled.
    socket.on('error', () => undefined)
    const rules = { tunnelSecretHash: state.identity?.tunnelSecretHash, daemonPort: (server.address() as AddressInfo).port }
    import('./open-tunnel.ts')
      .then(({ openTunnel }) => openTunnel({ request, socket, head }, rules, shutdown))
      .catch((err: unknown) => log.error({ err }, 'tunnel failed'))
      .finally(onEnd)
  })
}
