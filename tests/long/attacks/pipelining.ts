import { dial, head, scaled, stats, waitUntil, type Attack } from './attack.ts'

const REQUESTS = 3000
const DEADLINE_MS = 50_000

/** Many pipelined requests on one connection to the proxy. */
export const pipelining: Attack = {
  name: 'pipelining',
  async run(target, signal) {
    const count = scaled(target, REQUESTS)
    await stats(target, signal)
    const line = await dial(target, signal)
    const startedAt = performance.now()
    line.socket.write(head(target, 'GET /ok').repeat(count))
    const answers = (): number => line.received.split('HTTP/1.1 ').length - 1
    await waitUntil(() => line.isClosed || answers() >= count, DEADLINE_MS, signal)
    const { atOnce } = await stats(target, signal)
    line.socket.destroy()
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
    return {
      sent: `${count} GETs at once on one connection`,
      observed: `${answers()} answers in ${seconds} s, ${atOnce} at once in the service`,
    }
  },
}
