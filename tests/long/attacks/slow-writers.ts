import { setTimeout as delay } from 'node:timers/promises'
import { countStatuses, dialMany, head, scaled, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 100
const ROUNDS = 20
const EVERY_MS = 250
const DEADLINE_MS = 20_000

/** Clients that send a body byte by byte. */
export const slowWriters: Attack = {
  name: 'slow writers',
  async run(target, signal) {
    const count = scaled(target, CONNECTIONS)
    const rounds = Math.max(scaled(target, ROUNDS), 4)
    const lines = await dialMany(target, count, signal)
    for (const { socket } of lines) socket.write(head(target, 'POST /ok', [`Content-Length: ${rounds}`, 'Connection: close']))
    for (let round = 0; round < rounds; round++) {
      await delay(EVERY_MS, undefined, { signal })
      for (const { socket, isClosed } of lines) if (!isClosed) socket.write('x')
    }
    await waitUntil(() => lines.every(({ isClosed }) => isClosed), DEADLINE_MS, signal)
    const statuses = countStatuses(lines)
    for (const { socket } of lines) socket.destroy()
    return { sent: `${count} POSTs of ${rounds} bytes, a byte every ${EVERY_MS} ms`, observed: statuses }
  },
}
