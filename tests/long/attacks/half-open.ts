import { countStatuses, dial, head, scaled, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 600
/** Longer than the default deadline of a head. */
const DEADLINE_MS = 50_000

/** Connections that send nothing, that send half a head, or that end their sending and wait for a service that never answers. */
export const halfOpen: Attack = {
  name: 'half-open connections',
  async run(target, signal) {
    const count = scaled(target, CONNECTIONS)
    const lines = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const line = await dial(target, signal)
        if (index % 3 === 1) line.socket.write(head(target, 'GET /ok').slice(0, 40))
        if (index % 3 === 2) line.socket.end(head(target, 'GET /held'))
        return line
      }),
    )
    const startedAt = performance.now()
    // A short run does not wait for the deadline of heads.
    const awaited = (target.scale ?? 1) < 1 ? lines.filter((_, index) => index % 3 === 2) : lines
    await waitUntil(() => awaited.every(({ isClosed }) => isClosed), DEADLINE_MS, signal)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const open = lines.filter(({ isClosed }) => !isClosed).length
    const statuses = countStatuses(lines)
    for (const { socket } of lines) socket.destroy()
    return {
      sent: `${count} connections: silent, with half a head, ended after a request`,
      observed: `${open} open after ${seconds} s; ${statuses}`,
    }
  },
}
