import type { CallOptions } from '@connectrpc/connect'
import type { ProcessEvent } from '@sandyard/daemon-protocol/process/process_pb'
import type { TestDaemon } from './test-daemon.ts'

export interface Outcome {
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly pty: string
  /** Kinds of the events in order; equal neighbours are merged. */
  readonly kinds: readonly string[]
  readonly end:
    | { readonly exitCode: number; readonly exited: boolean; readonly status: string; readonly error: string | undefined }
    | undefined
}

type ProcessCaller = Pick<TestDaemon, 'process'>
type Events = AsyncIterable<{ event?: ProcessEvent | undefined }>

/** Reads a stream of process events to its end. */
export async function collect(events: Events): Promise<Outcome> {
  const output = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[], pty: [] as Uint8Array[] }
  const kinds: string[] = []
  let pid = 0
  let end: Outcome['end']
  for await (const { event } of events) {
    const kind = event?.event
    if (kind?.case === undefined) throw new Error('an event without content')
    const name = kind.case === 'data' ? String(kind.value.output.case) : kind.case
    if (kinds.at(-1) !== name) kinds.push(name)
    if (kind.case === 'start') pid = kind.value.pid
    if (kind.case === 'data' && kind.value.output.case !== undefined) output[kind.value.output.case].push(kind.value.output.value)
    if (kind.case === 'end') {
      const { exitCode, exited, status, error } = kind.value
      end = { exitCode, exited, status, error }
    }
  }
  const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).toString()
  return { pid, kinds, end, stdout: text(output.stdout), stderr: text(output.stderr), pty: text(output.pty) }
}

export interface RunOptions extends CallOptions {
  readonly config?: { readonly cmd?: string; readonly args?: string[]; readonly envs?: Record<string, string>; readonly cwd?: string }
  readonly request?: { readonly stdin?: boolean; readonly tag?: string; readonly pty?: object }
}

/** Starts a program as the SDKs do, without standard input unless asked, and reads everything. */
export function run(daemon: ProcessCaller, command: readonly string[], { config, request, ...call }: RunOptions = {}): Promise<Outcome> {
  const [cmd = '', ...args] = command
  return collect(daemon.process.start({ stdin: false, ...request, process: { cmd, args, cwd: '/', ...config } }, call))
}

export function sh(script: string): readonly string[] {
  return ['/bin/sh', '-c', script]
}

/** Starts a program and returns once it runs, with the rest of its events to come. */
export async function begin(daemon: ProcessCaller, command: readonly string[], { config, request, ...call }: RunOptions = {}) {
  const [cmd = '', ...args] = command
  const events = daemon.process.start({ ...request, process: { cmd, args, cwd: '/', ...config } }, call)[Symbol.asyncIterator]()
  const first = await events.next()
  const event = first.done === true ? undefined : first.value.event?.event
  if (event?.case !== 'start') throw new Error('the first event is not the start')
  const { pid } = event.value
  return { pid, selector: { selector: { case: 'pid' as const, value: pid } }, rest: { [Symbol.asyncIterator]: () => events } }
}
