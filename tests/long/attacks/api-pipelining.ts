import { countStatuses, dialMany, mib, scaled, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 20
const REQUESTS = 3000
const DEADLINE_MS = 40_000
const LEAST_REQUESTS = 20

/** Many pipelined requests on each connection to the control plane; half of the clients never read an answer. */
export const apiPipelining: Attack = {
  name: 'pipelining, control plane',
  async run(target, signal) {
    const count = Math.max(scaled(target, REQUESTS), LEAST_REQUESTS)
    const lines = await dialMany({ ...target, proxyUrl: target.apiUrl }, Math.max(scaled(target, CONNECTIONS), 2), signal)
    const readers = lines.filter((_, index) => index % 2 === 1)
    for (const [index, { socket }] of lines.entries()) {
      if (index % 2 === 0) socket.pause()
      const path = index % 2 === 0 ? '/openapi.json' : '/health'
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count))
    }
    const answers = (): number => readers.reduce((sum, { received }) => sum + received.split('HTTP/1.1 ').length - 1, 0)
    const wanted = readers.length * count
    const startedAt = performance.now()
    await waitUntil(() => readers.every(({ isClosed }) => isClosed) || answers() >= wanted, DEADLINE_MS, signal)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const bytes = lines.reduce((sum, line) => sum + line.bytes, 0)
    const observed = `${answers()} of ${wanted} answers in ${seconds} s, ${mib(bytes)}; the last ones ${countStatuses(readers)}`
    for (const { socket } of lines) socket.destroy()
    return { sent: `${count} GETs at once on each of ${lines.length} connections, half of them never read`, observed }
  },
}
