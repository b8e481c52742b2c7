import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'
import { isLoopbackAddress, isHttps } from '../facts/addresses.ts'
import { requireEngineNetwork, type Facts } from '../facts/facts.ts'

export const binding: Check = {
  id: 'N2',
  title: 'Binding',
  checks:
    'addresses of the listeners: API or proxy off loopback without TLS in front (`SANDYARD_API_URL` is not https) warns; metrics off loopback fail',
  why: 'Keys and tokens travel in plain HTTP, where others can read them; the metrics show names of operations and the load to everybody.',
  todo: 'Set SANDYARD_BIND=127.0.0.1 and put a server with TLS in front; let Prometheus read the metrics on this machine or through a tunnel.',
  async run(facts): Promise<Finding> {
    await requireEngineNetwork(facts)
    const { settings } = facts
    const hasTls = isHttps(settings.publicUrl)
    const isOpen = (port: number): boolean => isOffLoopback(facts, port)
    const open = [...(isOpen(settings.apiPort) ? ['the API'] : []), ...(isOpen(settings.proxyPort) ? ['the proxy'] : [])]
    return worstOf(
      [
        isOpen(settings.metricsPort) ? fail('the metrics are open to other machines') : undefined,
        open.length > 0 && !hasTls ? warn(`${open.join(' and ')} are open to other machines without TLS`) : undefined,
      ],
      open.length > 0
        ? `${open.join(' and ')} are open to others; TLS is in front (${settings.publicUrl})`
        : 'only this machine reaches the servers',
    )
  },
}

/** By the socket that listens; by the setting when none does. */
function isOffLoopback({ host, settings }: Facts, port: number): boolean {
  const sockets = host.listeners().filter((listener) => listener.port === port)
  return sockets.length === 0 ? !isLoopbackAddress(settings.bind) : sockets.some(({ isLoopback }) => !isLoopback)
}
