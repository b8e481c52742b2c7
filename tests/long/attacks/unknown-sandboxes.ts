import { countStatuses, dialMany, scaled, waitUntil, type Attack } from './attack.ts'

const CONNECTIONS = 50
const REQUESTS = 200
const DEADLINE_MS = 50_000

/** Requests for sandboxes that do not exist, each with another id. */
export const unknownSandboxes: Attack = {
  name: 'unknown sandboxes',
  async run(target, signal) {
    const each = scaled(target, REQUESTS)
    const lines = await dialMany(target, CONNECTIONS, signal)
    const startedAt = performance.now()
    for (const [index, { socket }] of lines.entries()) {
      const requests = Array.from({ length: each }, (_, i) => `GET / HTTP/1.1\r\nHost: 80-inone${index}x${i}.localhost\r\n\r\n`)
      socket.write(requests.join(''))
    }
    const answers = (): number => lines.reduce((sum, { received }) => sum + received.split('HTTP/1.1 ').length - 1, 0)
    await waitUntil(() => answers() >= CONNECTIONS * each || lines.every(({ isClosed }) => isClosed), DEADLINE_MS, signal)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    const observed = `${answers()} answers in ${seconds} s, the last ones ${countStatuses(lines)}`
    for (const { socket } of lines) socket.destroy()
    return { sent: `${CONNECTIONS * each} requests for as many unknown sandboxes on ${CONNECTIONS} connections`, observed }
  },
}
