import { setTimeout as delay } from 'node:timers/promises'
import { countStatuses, dialMany, scaled, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 200
const ROUNDS = 40
const EVERY_MS = 250
const DEADLINE_MS = 30_000

/** Clients of the control plane that announce a large body and send it byte by byte. */
export const slowBodies: Attack = {
  name: 'slow bodies, control plane',
  async run(target, signal) {
    const count = scaled(target, CONNECTIONS)
    const rounds = Math.max(scaled(target, ROUNDS), 4)
    const lines = await dialMany({ ...target, proxyUrl: target.apiUrl }, count, signal)
    const head = [
      'POST /v2/sandboxes HTTP/1.1',
      'Host: localhost',
      `X-Api-Key: ${target.apiKey}`,
      'Content-Type: application/json',
      'Content-Length: 1048576',
    ]
    for (const { socket } of lines) socket.write(`${head.join('\r\n')}\r\n\r\n`)
    for (let round = 0; round < rounds; round++) {
      await delay(EVERY_MS, undefined, { signal })
      for (const { socket, isClosed } of lines) if (!isClosed) socket.write(' ')
    }
    // Half of the clients send nothing more, the other half end their sending.
    for (const [index, { socket }] of lines.entries()) if (index % 2 === 0) socket.end()
    const ended = lines.filter((_, index) => index % 2 === 0)
    await waitUntil(() => ended.every(({ isClosed }) => isClosed), Math.max(scaled(target, DEADLINE_MS), 5000), signal)
    const open = lines.filter(({ isClosed }) => !isClosed).length
    const statuses = countStatuses(lines)
    for (const { socket } of lines) socket.destroy()
    return {
      sent: `${count} POSTs that announce 1 MiB, a byte every ${EVERY_MS} ms, ${rounds} times, then half of them end`,
      observed: `${open} still open; ${statuses}`,
    }
  },
}
