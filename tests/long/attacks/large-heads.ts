import { countStatuses, dialMany, head, scaled, waitUntil, type Attack, type Line } from './attack.ts'

const CONNECTIONS = 20
const DEADLINE_MS = 20_000
const KIB = 1024

/** Heads just below and above the cap of 64 KiB, with one large header and with thousands of small ones. */
export const largeHeads: Attack = {
  name: 'heads at their limit',
  async run(target, signal) {
    const count = scaled(target, CONNECTIONS)
    const send = async (headers: readonly string[]): Promise<string> => {
      const lines: readonly Line[] = await dialMany(target, count, signal)
      for (const { socket } of lines) socket.write(head(target, 'GET /ok', [...headers, 'Connection: close']))
      await waitUntil(() => lines.every(({ isClosed }) => isClosed), DEADLINE_MS, signal)
      for (const { socket } of lines) socket.destroy()
      return countStatuses(lines)
    }
    const small = (bytes: number): string[] => Array.from({ length: bytes / 5 }, () => 'X:1')
    const observed = [
      `one of 60 KiB ${await send([`X: ${'x'.repeat(60 * KIB)}`])}`,
      `many in 30 KiB ${await send(small(30 * KIB))}`,
      `one of 80 KiB ${await send([`X: ${'x'.repeat(80 * KIB)}`])}`,
      `many in 200 KiB ${await send(small(200 * KIB))}`,
    ]
    return { sent: `${count} requests each with heads below and above 64 KiB`, observed: observed.join('; ') }
  },
}
