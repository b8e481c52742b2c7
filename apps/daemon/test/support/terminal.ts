import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { TestDaemon } from './test-daemon.ts'

export const SIZE = { cols: 100, rows: 30 }

/** A program on a terminal, with methods to type and to read its screen. */
export interface LiveTerminal {
  readonly pid: number
  readonly selector: { readonly selector: { readonly case: 'pid'; readonly value: number } }
  /** All bytes so far. */
  output(): Buffer
  type(text: string | Uint8Array): Promise<unknown>
  /** Waits until the output contains the text. */
  sees(text: string | RegExp): Promise<void>
  /** The end status; resolves after all output was read. */
  readonly ended: Promise<string | undefined>
}

interface Options {
  readonly size?: { cols: number; rows: number }
  readonly envs?: Record<string, string>
}

export async function openTerminal(daemon: TestDaemon, script: string, { size = SIZE, envs = {} }: Options = {}): Promise<LiveTerminal> {
  const process = { cmd: '/bin/sh', args: ['-c', script], cwd: '/', envs }
  const events = daemon.process.start({ process, pty: { size } })[Symbol.asyncIterator]()
  const first = await events.next()
  const start = first.done === true ? undefined : first.value.event?.event
  if (start?.case !== 'start') throw new Error('the first event is not the start')
  const { pid } = start.value
  const selector = { selector: { case: 'pid' as const, value: pid } }
  const chunks: Uint8Array[] = []
  const output = (): Buffer => Buffer.concat(chunks)

  async function readToEnd(): Promise<string | undefined> {
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      const event = next.value.event?.event
      if (event?.case === 'data' && event.value.output.case === 'pty') chunks.push(event.value.output.value)
      if (event?.case === 'end') return event.value.status
    }
    return undefined
  }

  return {
    pid,
    selector,
    output,
    ended: readToEnd(),
    type: (text) => daemon.process.sendInput({ process: selector, input: { input: { case: 'pty', value: Buffer.from(text) } } }),
    async sees(text) {
      const isThere = () => (typeof text === 'string' ? output().toString().includes(text) : text.test(output().toString())) || undefined
      await pollUntil({ what: `${String(text)} on the terminal`, timeoutMs: 20_000, everyMs: 5 }, isThere)
    },
  }
}
