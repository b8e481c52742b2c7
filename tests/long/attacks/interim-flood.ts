import { countStatuses, dialMany, head, mib, scaled, stats, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 8
const DEADLINE_MS = 20_000

/** A service that sends only interim answers; half of its clients read nothing. */
export const interimFlood: Attack = {
  name: 'interim answers',
  async run(target, signal) {
    await stats(target, signal)
    const count = Math.max(scaled(target, CONNECTIONS), 2)
    const lines = await dialMany(target, count, signal)
    for (const [index, { socket }] of lines.entries()) {
      if (index % 2 === 0) socket.pause()
      socket.write(head(target, 'GET /interim', ['Connection: close']))
    }
    const readers = lines.filter((_, index) => index % 2 === 1)
    await waitUntil(() => readers.every(({ isClosed }) => isClosed), DEADLINE_MS, signal)
    const { bytes } = await stats(target, signal)
    const observed = `the proxy took ${mib(bytes)} of them from the services; readers got ${countStatuses(readers)}`
    for (const { socket } of lines) socket.destroy()
    return { sent: `${count} requests to a service with 200 MiB of 103 answers each, half of them never read`, observed }
  },
}
