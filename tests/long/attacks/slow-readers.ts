import { setTimeout as delay } from 'node:timers/promises'
import { dialMany, head, mib, scaled, stats, type Attack } from './attack.ts'

const CONNECTIONS = 100
const HOLD_MS = 5000

/** Clients that request a large body and never read it. */
export const slowReaders: Attack = {
  name: 'slow readers',
  async run(target, signal) {
    const count = scaled(target, CONNECTIONS)
    const holdMs = Math.max(scaled(target, HOLD_MS), 500)
    await stats(target, signal)
    const lines = await dialMany(target, count, signal)
    for (const { socket } of lines) {
      socket.pause()
      socket.write(head(target, 'GET /endless'))
    }
    await delay(holdMs, undefined, { signal })
    const { bytes } = await stats(target, signal)
    for (const { socket } of lines) socket.destroy()
    return {
      sent: `${count} GETs of 200 MiB that are never read, for ${holdMs / 1000} s`,
      observed: `the services could write ${mib(bytes)} in all, ${mib(bytes / count)} each, the kernel's buffers included`,
    }
  },
}
