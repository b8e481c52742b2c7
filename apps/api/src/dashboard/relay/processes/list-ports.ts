import type { PortView } from '@sandyard/dashboard-contract/processes'
import type { ReachableSandbox } from '../sandbox-daemon.ts'
import { parseListening, type ListeningSocket } from './listening-ports.ts'
import { readTexts } from './read-texts.ts'

const MAX_PORTS = 200
/** The engine's resolver of names in each container. */
const RESOLVER = '127.0.0.11'

/** The ports that programs of a sandbox listen on, without those of its daemon. */
export async function listPorts(
  { daemon, sandboxId }: ReachableSandbox,
  urlOf: (port: number, sandboxId: string) => string,
  signal: AbortSignal,
): Promise<{ data: PortView[]; isCut: boolean }> {
  const { host, daemonPort } = daemon.endpoint
  const texts = await readTexts(daemon, ['/proc/net/tcp', '/proc/net/tcp6'], signal)
  const sockets = [...texts.values()].flatMap(parseListening).filter(({ port, address }) => port !== daemonPort && address !== RESOLVER)
  const byPort = new Map<number, ListeningSocket>()
  // The daemon passes ports of localhost on at the address of the sandbox: the program's own socket is shown.
  for (const socket of sockets) if (!byPort.has(socket.port) || socket.address !== host) byPort.set(socket.port, socket)
  const found = [...byPort.values()].toSorted((a, b) => a.port - b.port)
  const data = found.slice(0, MAX_PORTS).map(({ address, port }) => ({ port, address, pid: null, url: urlOf(port, sandboxId) }))
  return { data, isCut: found.length > data.length }
}
